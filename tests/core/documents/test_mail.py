"""Mail as real mailers write it: the message by its words, the original apart, nothing unsaid."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from pura.base.errors import InputError
from pura.documents import MAIN, QUOTED, Extraction, choose, read_data
from pura.record.left_out import LeftOutKind

OWN = "I agree with every word of it, and would sign it today."
OTHER = "Another person wrote these words, which are not mine."
MORE = "A second paragraph of that person stands here."


def read(data: bytes | EmailMessage, name: str = "x.eml") -> Extraction:
    return read_data(bytes(data), name=name)


def mail(plain: str | None = None, page: str | None = None) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", "c"
    if plain is not None:
        message.set_content(plain)
    if page is not None and plain is not None:
        message.add_alternative(page, subtype="html")
    elif page is not None:
        message.set_content(page, subtype="html")
    return message


def texts(extraction: Extraction, role: str) -> list[str]:
    return [document.text for document in extraction.documents if document.role == role]


ANNOUNCEMENTS = [
    "On Mon, Nov 2, 2026 at 10:00 AM Anna Baker <anna@example.org> wrote:",
    "On Mon, Nov 2, 2026 at 10:00 AM Anna Baker\n<anna@example.org> wrote:",
    "Am 02.11.26 um 10:00 schrieb Anna Baker:",
    "Am Mo., 2. Nov. 2026 um 10:00 Uhr schrieb Anna <\nanna@example.org>:",
    "Le lun. 2 nov. 2026 à 10:00, Anna <anna@example.org> a écrit :",
    "El lun, 2 nov 2026 a las 10:00, Anna (<anna@example.org>) escribió:",
    "Il giorno lun 2 nov 2026 alle ore 10:00 Anna <anna@example.org> ha scritto:",
    "Em seg., 2 de nov. de 2026 às 10:00, Anna <anna@example.org> escreveu:",
    "Op ma 2 nov 2026 om 10:00 schreef Anna <anna@example.org>:",
    "Den mån 2 nov. 2026 kl 10:00 skrev Anna <anna@example.org>:",
    "ma 2. marrask. 2026 klo 10.00 Anna (anna@example.org) kirjoitti:",
    "pon., 2 lis 2026 o 10:00 Anna <anna@example.org> napisał(a):",
    "po 2. 11. 2026 v 10:00 odesílatel Anna <anna@example.org> napsal:",
    "пн, 2 нояб. 2026 г. в 10:00, Anna <anna@example.org>:",
    "Anna <anna@example.org>, 2 Kas 2026 Pzt, 10:00 tarihinde şunu yazdı:",
    "2026年11月2日(月) 10:00 Anna <anna@example.org>:",
    "Anna <anna@example.org> 于2026年11月2日周一 10:00写道：",
    "2026년 11월 2일 (월) 오전 10:00, Anna <anna@example.org>님이 작성:",
]
HEADERS = [
    "From: Anna <anna@example.org>\nSent: Monday, 2 November 2026 10:00\nTo: Ben\nSubject: Bread",
    "*From:* Anna\n*Sent:* Monday\n*To:* Ben\n*Subject:* Bread",
    "Von: Anna\nGesendet: Montag\nAn: Ben\nBetreff: Brot",
    "De : Anna\nEnvoyé : lundi\nÀ : Ben\nObjet : Pain",
    "De: Anna\nEnviado: lunes\nPara: Ben\nAsunto: Pan",
    "Da: Anna\nInviato: lunedì\nA: Ben\nOggetto: Pane",
    "Van: Anna\nVerzonden: maandag\nAan: Ben\nOnderwerp: Brood",
    "От: Anna\nОтправлено: понедельник\nКому: Ben\nТема: Хлеб",
    "发件人: Anna\n发送时间: 2026年11月2日\n收件人: Ben\n主题: 面包",
]


@pytest.mark.parametrize("announcement", ANNOUNCEMENTS)
@pytest.mark.parametrize("mark", ["> ", ""])
def test_a_passage_that_is_announced_is_not_the_writers(announcement: str, mark: str) -> None:
    extraction = read(mail(f"{OWN}\n\n{announcement}\n\n{mark}{OTHER}\n{mark}{MORE}\n"))
    assert texts(extraction, MAIN) == [OWN]
    assert [text.strip() for text in texts(extraction, QUOTED)] == [f"{OTHER}\n{MORE}"]


@pytest.mark.parametrize("headers", HEADERS)
@pytest.mark.parametrize(
    "rule", ["", "_" * 32 + "\n", "-----Original Message-----\n", "Begin forwarded message:\n\n"]
)
def test_what_stands_below_the_headers_of_another_message_is_quoted(
    headers: str, rule: str
) -> None:
    extraction = read(mail(f"{OWN}\n\n{rule}{headers}\n\n{OTHER}\n"))
    assert texts(extraction, MAIN) == [OWN]
    (quoted,) = texts(extraction, QUOTED)
    assert quoted.strip() == f"{headers}\n\n{OTHER}"


@pytest.mark.parametrize(
    "text",
    [
        f"As Orwell wrote:\n\n{OTHER}",
        f"In 1946 Orwell wrote:\n\n{OTHER}",
        f"From: the beginning\n\n{OTHER}",
        f"From: Anna\nTo: Ben\nSubject: A memo of mine\n\n{OTHER}",
        f"---- a rule ----\n\n{OTHER}",
        f"Here are the points:\n\n{OTHER}",
    ],
)
def test_own_words_that_look_a_little_alike_stay(text: str) -> None:
    extraction = read(mail(f"{text}\n"))
    assert texts(extraction, MAIN) == [text]
    assert texts(extraction, QUOTED) == []


ON = "On Mon, Nov 2, 2026 at 10:00 AM Anna &lt;anna@example.org&gt; wrote:"
PAGES = {
    "Gmail": f'<div>{OWN}</div><div class="gmail_quote"><div class="gmail_attr">{ON}<br></div>'
    f'<blockquote class="gmail_quote" style="margin:0"><p>{OTHER}</p></blockquote></div>',
    "Apple": f'<div>{OWN}</div><div>{ON}<br></div><blockquote type="cite">{OTHER}</blockquote>',
    "Thunderbird": f'<p>{OWN}</p><div class="moz-cite-prefix">{ON}</div>'
    f'<blockquote type="cite" cite="mid:1"><p>{OTHER}</p></blockquote>',
    "Outlook": f'<p>{OWN}</p><div style="border-top:solid 1pt"><p><b>From:</b> Anna<br><b>Sent:</b>'
    f" Monday<br><b>To:</b> Ben<br><b>Subject:</b> c</p></div><p>{OTHER}</p>",
    "Outlook on the web": f'<div>{OWN}</div><hr><div id="divRplyFwdMsg"><b>From:</b> Anna<br>'
    f"<b>Sent:</b> Monday</div><div>{OTHER}</div>",
    "Yahoo": f'<div>{OWN}</div><div class="yahoo_quoted"><div>{ON}</div><div>{OTHER}</div></div>',
    "plain blockquote": f"<p>{OWN}</p><p>{ON}</p><blockquote><p>{OTHER}</p></blockquote>",
    "reply below": f"<p>{ON}</p><blockquote><p>{OTHER}</p></blockquote><p>{OWN}</p>",
}


@pytest.mark.parametrize("mailer", PAGES)
def test_the_original_in_a_page_is_not_the_writers(mailer: str) -> None:
    extraction = read(mail(page=f"<html><body>{PAGES[mailer]}</body></html>"))
    assert texts(extraction, MAIN) == [OWN]
    (quoted,) = texts(extraction, QUOTED)
    assert OTHER in quoted
    assert OWN not in quoted
    kinds = {entry.kind for entry in extraction.chosen[0].left_out}
    assert LeftOutKind.QUOTED_ORIGINAL in kinds


def test_a_quotation_of_the_writers_own_choice_stays_in_the_body() -> None:
    page = f"<p>{OWN}</p><p>As Orwell wrote:</p><blockquote>{OTHER}</blockquote>"
    assert texts(read(mail(page=page)), MAIN) == [f"{OWN}\n\nAs Orwell wrote:\n\n{OTHER}"]


@pytest.mark.parametrize(
    ("plain", "page", "body", "other"),
    [
        (OWN, f"<p>{OWN}</p>", OWN, None),
        (OWN, f"<p>{OWN} {OTHER}</p>", OWN, "html version"),
        ("Please view this online.", f"<p>{OWN} {OTHER} {MORE}</p>", None, "plain version"),
        ("-- \nSent from a phone", f"<p>{OWN} {OTHER} {MORE}</p>", None, "plain version"),
    ],
)
def test_the_message_is_chosen_by_its_words(
    plain: str, page: str, body: str | None, other: str | None
) -> None:
    extraction = read(mail(plain, page))
    assert texts(extraction, MAIN) == [body or f"{OWN} {OTHER} {MORE}"]
    listed = [e.part for e in extraction.chosen[0].left_out if e.kind is LeftOutKind.OTHER_VERSION]
    assert listed == ([] if other is None else [other])


@pytest.mark.parametrize("boundary", ["=_x=1", "a:b", "b?c/d", "plain"])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_boundaries_and_line_ends_of_real_mailers(boundary: str, line_end: bytes) -> None:
    lines = [
        "From: a@example.org",
        "Subject: c",
        "MIME-Version: 1.0",
        f"Content-Type: multipart/alternative; boundary={boundary}",
        "",
        f"--{boundary}",
        "Content-Type: text/plain; charset=utf-8",
        "",
        OWN,
        f"--{boundary}--",
        "",
    ]
    extraction = read(line_end.join(line.encode() for line in lines))
    assert texts(extraction, MAIN) == [OWN]


SEALED = {
    "S/MIME": ("application/pkcs7-mime; smime-type=enveloped-data", "smime.p7m"),
    "S/MIME, old name": ("application/x-pkcs7-mime", "smime.p7m"),
}


@pytest.mark.parametrize("kind", SEALED)
def test_a_sealed_message_is_refused_by_its_name(kind: str) -> None:
    content_type, name = SEALED[kind]
    head = f"From: a@b\nSubject: c\nContent-Type: {content_type}; name={name}\n"
    data = f"{head}Content-Transfer-Encoding: base64\n\nMIAGCSqGSIb3\n".encode()
    with pytest.raises(InputError, check=lambda error: error.key == "mail.sealed"):
        read(data)


ARMOUR = "-----BEGIN PGP {0}-----\n\nhQEMA5vJzX9y\n=abcd\n-----END PGP {0}-----\n"


def test_an_encrypted_message_in_the_body_is_listed() -> None:
    (document,) = read(mail(f"{OWN}\n\n{ARMOUR.format('MESSAGE')}")).chosen
    assert document.text == OWN
    assert [(e.kind, e.words) for e in document.left_out] == [(LeftOutKind.ENCRYPTED, None)]


def test_a_message_that_is_encrypted_as_a_whole_is_refused_by_its_name() -> None:
    with pytest.raises(InputError, check=lambda error: error.key == "mail.sealed"):
        read(mail(ARMOUR.format("MESSAGE")))


def test_an_encrypted_part_is_refused_by_its_name() -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", "c"
    message.set_content(b"Version: 1\n", maintype="application", subtype="pgp-encrypted")
    message.make_mixed()
    message.add_attachment(
        ARMOUR.format("MESSAGE").encode(), maintype="application", subtype="octet-stream"
    )
    with pytest.raises(InputError, check=lambda error: error.key == "mail.sealed"):
        read(message)


def test_a_signature_around_the_text_is_no_text() -> None:
    head = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n"
    (document,) = read(mail(f"{head}{OWN}\n- - a list\n{ARMOUR.format('SIGNATURE')}")).chosen
    assert document.text == f"{OWN}\n- a list"
    assert not any(entry.matters for entry in document.left_out)


def test_an_attachment_of_outlook_is_named() -> None:
    message = mail(OWN)
    message.add_attachment(
        b"\x78\x9f\x3e\x22 no more",
        maintype="application",
        subtype="ms-tnef",
        filename="winmail.dat",
    )
    (entry,) = read(message).chosen[0].left_out
    assert (entry.kind, entry.words, entry.location) == (
        LeftOutKind.UNREADABLE,
        None,
        "winmail.dat",
    )


def test_attached_documents_are_parts() -> None:
    message = mail(OWN)
    message.add_attachment(
        rf"{{\rtf1\ansi {OTHER}}}".encode(), maintype="application", subtype="rtf", filename="a.rtf"
    )
    extraction = read(message)
    assert [(e.kind, e.part) for e in extraction.chosen[0].left_out] == [
        (LeftOutKind.ATTACHMENT, "attachment a.rtf")
    ]
    (attached,) = choose(extraction, ["attachment a.rtf"])
    assert attached.text == OTHER


@pytest.mark.parametrize(
    "line", ["From now on it is so.", "From the start: nothing.", "From a@b: a note"]
)
def test_a_line_that_begins_with_from_ends_no_message(line: str) -> None:
    head = b"From a@b Mon Nov  2 10:00:00 2026\nFrom: a@b\nSubject: c\n\n"
    data = head + f"{OWN}\n\n{line}\nAnd more.\n\n".encode() + head + f"{OTHER}\n".encode()
    extraction = read(data, "x.mbox")
    assert texts(extraction, MAIN) == [f"{OWN}\n\n{line}\nAnd more.", OTHER]


def test_body_below_a_header_without_a_blank_line_keeps_every_line() -> None:
    head = "From: a@b.example\nTo: c@d.example\nX-Mailer: x\nSubject: x\n"
    body = "Note: this is new.\nDear all: read on.\nNo blank line stands before this letter."
    assert read_data((head + body).encode(), name="a.eml").chosen[0].text == body
    assert read_data(f"{head}\n{body}".encode(), name="a.eml").chosen[0].text == body
    only = "Note: this is all that the letter says."
    assert read_data((head + only).encode(), name="a.eml").chosen[0].text == only
