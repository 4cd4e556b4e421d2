"""Reports: what leaves the tool (reports.md).

:func:`~pura.report.build.build_report` makes one PDF of one or several audits, with the record
inside; HTML and tables are made from the same content; read :mod:`pura.report.build` first.
:mod:`.signing` signs, :mod:`.check` checks.
"""
