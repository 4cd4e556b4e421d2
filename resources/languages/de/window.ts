<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de_DE">
<context>
    <name>Answer</name>
    <message>
        <source>{n:plural(One limit|{n:count} limits)} of this finding</source>
        <translation>{n:plural(Eine Einschränkung|{n:count} Einschränkungen)} dieses Befunds</translation>
    </message>
    <message>
        <source>This text is being audited again. Until then this is the finding of {day:text}.</source>
        <translation>Dieser Text wird gerade noch einmal geprüft. Bis dahin gilt der Befund vom {day:text}.</translation>
    </message>
    <message>
        <source>This finding is not saved: {why:text} It is safe here until the window is closed.</source>
        <translation>Dieser Befund ist nicht gespeichert: {why:text} Er bleibt hier, bis das Fenster geschlossen wird.</translation>
    </message>
    <message>
        <source>A later audit failed: {why:text} This is still the finding of {day:text}.</source>
        <translation>Eine spätere Prüfung schlug fehl: {why:text} Dies ist weiterhin der Befund vom {day:text}.</translation>
    </message>
    <message>
        <source>noted on {day:text}</source>
        <translation>vermerkt am {day:text}</translation>
    </message>
    <message>
        <source>{share:text} of the tokens, in {k:plural(one passage|{k:count} passages)} · payload of {n:text} bits</source>
        <translation>{share:text} der Token, in {k:plural(einer Passage|{k:count} Passagen)} · Nutzlast mit {n:text} Bits</translation>
    </message>
    <message>
        <source>Register entry {n:count}: {who:text}</source>
        <translation>Registereintrag {n:count}: {who:text}</translation>
    </message>
    <message>
        <source>No entry of the register has this payload</source>
        <translation>Kein Eintrag des Registers hat diese Nutzlast</translation>
    </message>
    <message>
        <source>All possible payloads share 1; the better one fits the text, the more it has. This ranks payloads, not people.</source>
        <translation>Alle möglichen Nutzlasten teilen sich 1; je besser eine zum Text passt, desto mehr hat sie. Das ordnet Nutzlasten, nicht Menschen.</translation>
    </message>
    <message>
        <source>Candidates</source>
        <translation>Kandidaten</translation>
    </message>
    <message>
        <source>Support for a mark: {word:text}</source>
        <translation>Stützt eine Markierung: {word:text}</translation>
    </message>
    <message>
        <source>Support: {word:text}</source>
        <translation>Stützt: {word:text}</translation>
    </message>
    <message>
        <source>Support against a mark: {word:text}</source>
        <translation>Spricht gegen eine Markierung: {word:text}</translation>
    </message>
    <message>
        <source>Report …</source>
        <translation>Bericht …</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>Version {n:text}: compare with the earlier one</source>
        <translation>Version {n:text}: mit der früheren vergleichen</translation>
    </message>
    <message>
        <source>Decision threshold: {times:text}</source>
        <translation>Entscheidungsschwelle: {times:text}</translation>
    </message>
    <message>
        <source>What this compares</source>
        <translation>Was das vergleicht</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Candidates ({n:text})</source>
        <translation>Kandidaten ({n:text})</translation>
    </message>
    <message>
        <source>Examine these parts</source>
        <translation>Diese Teile untersuchen</translation>
    </message>
    <message>
        <source>Examine this part</source>
        <translation>Diesen Teil untersuchen</translation>
    </message>
    <message>
        <source>{rank:text}. {payload:text} · share {weight:text}</source>
        <translation>{rank:text}. {payload:text} · Anteil {weight:text}</translation>
    </message>
    <message>
        <source>Scale of support</source>
        <translation>Skala der Stützung</translation>
    </message>
    <message>
        <source>support for H2 over H1</source>
        <translation>stützt H2 gegenüber H1</translation>
    </message>
    <message>
        <source>support for H1 over H2</source>
        <translation>stützt H1 gegenüber H2</translation>
    </message>
</context>
<context>
    <name>Assign</name>
    <message>
        <source>Assign entries to a key</source>
        <translation>Einträge einem Schlüssel zuordnen</translation>
    </message>
    <message>
        <source>From the date of each entry</source>
        <translation>Nach dem Tag jedes Eintrags</translation>
    </message>
    <message>
        <source>Epoch of the key</source>
        <translation>Epoche des Schlüssels</translation>
    </message>
    <message>
        <source>All; or a range, for example 1-500</source>
        <translation>Alle; oder ein Bereich, zum Beispiel 1-500</translation>
    </message>
    <message>
        <source>Assign</source>
        <translation>Zuordnen</translation>
    </message>
    <message>
        <source>Version 0.4.0 noted payloads without the key and the profile that they were issued under. Such entries name nobody. Assign only what you know to be issued under this key: the register notes who is named by it, and an assignment cannot be taken back.</source>
        <translation>Version 0.4.0 hat Nutzlasten ohne den Schlüssel und das Profil festgehalten, unter denen sie ausgegeben wurden. Solche Einträge nennen niemanden. Ordnen Sie nur zu, wovon Sie wissen, dass es unter diesem Schlüssel ausgegeben wurde: Das Register benennt danach Menschen, und eine Zuordnung lässt sich nicht zurücknehmen.</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Profile</source>
        <translation>Profil</translation>
    </message>
    <message>
        <source>Entries</source>
        <translation>Einträge</translation>
    </message>
    <message>
        <source>{n:plural(One entry was|{n:count} entries were)} assigned to the key.</source>
        <translation>{n:plural(Ein Eintrag wurde|{n:count} Einträge wurden)} dem Schlüssel zugeordnet.</translation>
    </message>
</context>
<context>
    <name>Bits</name>
    <message>
        <source>Generator {n:text}</source>
        <translation>Generator {n:text}</translation>
    </message>
    <message>
        <source>Blocks {range:text}</source>
        <translation>Blöcke {range:text}</translation>
    </message>
    <message>
        <source>Bits</source>
        <translation>Bits</translation>
    </message>
    <message>
        <source>data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>repaired</source>
        <translation>berichtigt</translation>
    </message>
    <message>
        <source>weak</source>
        <translation>schwach</translation>
    </message>
    <message>
        <source>never read</source>
        <translation>nie gelesen</translation>
    </message>
    <message>
        <source>check bit</source>
        <translation>Prüfbit</translation>
    </message>
    <message>
        <source>mark {n:text} · evidence for 1 or 0, log₁₀</source>
        <translation>Markierung {n:text} · Anhaltspunkte für 1 oder 0, log₁₀</translation>
    </message>
    <message>
        <source>evidence for 1 or 0, log₁₀</source>
        <translation>Anhaltspunkte für 1 oder 0, log₁₀</translation>
    </message>
    <message>
        <source>Position {n:text}: {bit:text}</source>
        <translation>Stelle {n:text}: {bit:text}</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(reading|readings)}</source>
        <translation>{n:count} {n:plural(Lesung|Lesungen)}</translation>
    </message>
    <message>
        <source>Position</source>
        <translation>Stelle</translation>
    </message>
    <message>
        <source>Bit</source>
        <translation>Bit</translation>
    </message>
    <message>
        <source>Evidence (log₁₀)</source>
        <translation>Anhaltspunkte (log₁₀)</translation>
    </message>
    <message>
        <source>{n:count} positions of the mark: {repaired:count} repaired, {weak:count} weak, {unread:count} never read. Readings per position: {least:count} to {most:count}.</source>
        <translation>{n:count} Stellen der Markierung: {repaired:count} berichtigt, {weak:count} schwach, {unread:count} nie gelesen. Lesungen je Stelle: {least:count} bis {most:count}.</translation>
    </message>
    <message>
        <source>Readings</source>
        <translation>Lesungen</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>Art</translation>
    </message>
</context>
<context>
    <name>Bundle</name>
    <message>
        <source>Team bundle</source>
        <translation>Teampaket</translation>
    </message>
    <message>
        <source>It brings a key, a profile, and where they are used a policy, power tables and the register. You see what it holds before anything is taken in.</source>
        <translation>Es bringt einen Schlüssel, ein Profil und, wo sie verwendet werden, Richtlinie, Tabellen der Trennschärfe und Register mit. Sie sehen, was es enthält, bevor etwas übernommen wird.</translation>
    </message>
    <message>
        <source>Passphrase of the bundle</source>
        <translation>Passphrase des Pakets</translation>
    </message>
    <message>
        <source>Its policy may replace the one that is here</source>
        <translation>Seine Richtlinie darf die hiesige ersetzen</translation>
    </message>
    <message>
        <source>Install the built-in model too ({size:text}, fetched once)</source>
        <translation>Auch das mitgelieferte Modell einrichten ({size:text}, einmal zu laden)</translation>
    </message>
    <message>
        <source>Show what it holds</source>
        <translation>Inhalt zeigen</translation>
    </message>
    <message>
        <source>Compare the fingerprints with whoever made the bundle.</source>
        <translation>Vergleichen Sie die Fingerabdrücke mit der Person, die das Paket gemacht hat.</translation>
    </message>
    <message>
        <source>Take it in</source>
        <translation>Übernehmen</translation>
    </message>
    <message>
        <source>The team bundle was taken in.</source>
        <translation>Das Teampaket wurde übernommen.</translation>
    </message>
    <message>
        <source>{what:text} “{name:text}”, fingerprint {fingerprint:text}</source>
        <translation>{what:text} »{name:text}«, Fingerabdruck {fingerprint:text}</translation>
    </message>
    <message>
        <source>Policy {name:text}</source>
        <translation>Richtlinie {name:text}</translation>
    </message>
    <message>
        <source>Power table {fingerprint:text}</source>
        <translation>Tabelle der Trennschärfe {fingerprint:text}</translation>
    </message>
    <message>
        <source>Register of {n:plural(one payload|{n:count} payloads)}</source>
        <translation>Register mit {n:plural(einer Nutzlast|{n:count} Nutzlasten)}</translation>
    </message>
    <message>
        <source>Choose a stored key and a profile first.</source>
        <translation>Wählen Sie erst einen gespeicherten Schlüssel und ein Profil.</translation>
    </message>
    <message>
        <source>Make a team bundle</source>
        <translation>Teampaket machen</translation>
    </message>
    <message>
        <source>Key “{key:text}”, profile “{profile:text}”, and what counts here of policy, power tables and register. Tell your colleague the passphrase by another way.</source>
        <translation>Schlüssel »{key:text}«, Profil »{profile:text}« und was hier an Richtlinie, Tabellen der Trennschärfe und Register gilt. Teilen Sie die Passphrase auf anderem Weg mit.</translation>
    </message>
    <message>
        <source>Save …</source>
        <translation>Speichern …</translation>
    </message>
    <message>
        <source>Save the team bundle</source>
        <translation>Teampaket speichern</translation>
    </message>
    <message>
        <source>The team bundle is saved. Compare the fingerprints later.</source>
        <translation>Das Teampaket ist gespeichert. Vergleichen Sie später die Fingerabdrücke.</translation>
    </message>
    <message>
        <source>Team bundles (*.purateam)</source>
        <translation>Teampakete (*.purateam)</translation>
    </message>
</context>
<context>
    <name>Busy</name>
    <message>
        <source>Loading the model</source>
        <translation>Das Modell wird geladen</translation>
    </message>
    <message>
        <source>Taking the text in</source>
        <translation>Der Text wird aufgenommen</translation>
    </message>
    <message>
        <source>Splitting the text into tokens</source>
        <translation>Der Text wird in Token zerlegt</translation>
    </message>
    <message>
        <source>Checking key, model and profile</source>
        <translation>Schlüssel, Modell und Profil werden abgeglichen</translation>
    </message>
    <message>
        <source>Reading the text</source>
        <translation>Der Text wird gelesen</translation>
    </message>
    <message>
        <source>Finding the steps that carry bits</source>
        <translation>Stellen, die Bits tragen, werden gesucht</translation>
    </message>
    <message>
        <source>Weighing each token</source>
        <translation>Jedes Token wird gewichtet</translation>
    </message>
    <message>
        <source>Decoding</source>
        <translation>Die Nutzlast wird gelesen</translation>
    </message>
    <message>
        <source>Measuring the evidence</source>
        <translation>Die Stärke der Befunde wird ermittelt</translation>
    </message>
    <message>
        <source>Finding passages</source>
        <translation>Passagen werden gesucht</translation>
    </message>
    <message>
        <source>Ranking candidates</source>
        <translation>Kandidaten werden gereiht</translation>
    </message>
    <message>
        <source>Putting it into words</source>
        <translation>Das Ergebnis wird in Worte gefasst</translation>
    </message>
    <message>
        <source>{n:count} of {all:count} tokens of {texts:count} texts</source>
        <translation>{n:count} von {all:count} Token aus {texts:count} Texten</translation>
    </message>
    <message>
        <source>{n:count} of {all:count} tokens</source>
        <translation>{n:count} von {all:count} Token</translation>
    </message>
    <message>
        <source>{time:text} left</source>
        <translation>noch {time:text}</translation>
    </message>
    <message>
        <source>Progress of the audit</source>
        <translation>Fortschritt der Untersuchung</translation>
    </message>
    <message>
        <source>You can go on working meanwhile: add texts, or look at other results.</source>
        <translation>Sie können inzwischen weiterarbeiten: Texte hinzufügen oder andere Ergebnisse ansehen.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>Angehalten</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Weiter</translation>
    </message>
</context>
<context>
    <name>Cases</name>
    <message>
        <source>Save the finding to a case first (Ctrl+S).</source>
        <translation>Sichern Sie den Befund zuerst in einem Fall (Strg+S).</translation>
    </message>
    <message>
        <source>There is no finished audit to save. Audit a text first.</source>
        <translation>Es gibt keine fertige Untersuchung zu sichern. Untersuchen Sie erst einen Text.</translation>
    </message>
    <message>
        <source>{n:plural(Saved|{n:count} audits were saved)} to the case “{case:text}”.</source>
        <translation>{n:plural(Im Fall »{case:text}« gesichert.|{n:count} Untersuchungen wurden im Fall »{case:text}« gesichert.)}</translation>
    </message>
    <message>
        <source>There is no earlier examination of these bytes in its case.</source>
        <translation>In seinem Fall gibt es keine frühere Untersuchung dieser Bytes.</translation>
    </message>
    <message>
        <source>The case log has noted the report.</source>
        <translation>Das Fallbuch hat den Bericht vermerkt.</translation>
    </message>
    <message>
        <source>Your name</source>
        <translation>Ihr Name</translation>
    </message>
    <message>
        <source>The log says who acts. The settings keep the name.</source>
        <translation>Das Fallbuch sagt, wer handelt. Die Einstellungen merken sich den Namen.</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>Add a note</source>
        <translation>Notiz hinzufügen</translation>
    </message>
    <message>
        <source>A note cannot be changed later; another one can be added.</source>
        <translation>Eine Notiz lässt sich später nicht ändern; eine weitere lässt sich hinzufügen.</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Notiz</translation>
    </message>
    <message>
        <source>Rename the case</source>
        <translation>Fall umbenennen</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Tags</source>
        <translation>Schlagwörter</translation>
    </message>
    <message>
        <source>Put commas between them.</source>
        <translation>Mit Kommas trennen.</translation>
    </message>
    <message>
        <source>Set</source>
        <translation>Setzen</translation>
    </message>
    <message>
        <source>Set a hold</source>
        <translation>Sperre setzen</translation>
    </message>
    <message>
        <source>Lift the hold</source>
        <translation>Sperre aufheben</translation>
    </message>
    <message>
        <source>While a hold is set, nothing of the case can be erased.</source>
        <translation>Solange eine Sperre gesetzt ist, lässt sich nichts aus dem Fall löschen.</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source>The texts of “{case:text}” are overwritten. Findings, names and notes stay. This cannot be undone.</source>
        <translation>Die Texte von »{case:text}« werden überschrieben. Befunde, Namen und Notizen bleiben. Das lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
        <source>Names, notes, records and texts of “{case:text}” are overwritten. The log keeps that there was a case, and what happened when. This cannot be undone.</source>
        <translation>Namen, Notizen, Aufzeichnungen und Texte von »{case:text}« werden überschrieben. Das Fallbuch behält, dass es einen Fall gab und was wann geschah. Das lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
        <source>Erase</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Erase for good</source>
        <translation>Endgültig löschen</translation>
    </message>
    <message>
        <source>Export the case</source>
        <translation>Fall ausgeben</translation>
    </message>
    <message>
        <source>Exported cases (*.puracase)</source>
        <translation>Ausgegebene Fälle (*.puracase)</translation>
    </message>
    <message>
        <source>Exported to “{file:text}”. Whoever has the file can read the case.</source>
        <translation>In »{file:text}« ausgegeben. Wer die Datei hat, kann den Fall lesen.</translation>
    </message>
    <message>
        <source>Passphrase of the kept text</source>
        <translation>Passphrase des aufbewahrten Textes</translation>
    </message>
    <message>
        <source>Cancel opens the findings without the text.</source>
        <translation>Abbrechen öffnet die Befunde ohne den Text.</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Check the case log</source>
        <translation>Fallbuch prüfen</translation>
    </message>
    <message>
        <source>Head to compare with (in a report: Integrity; may stay empty)</source>
        <translation>Vergleichsstand (im Bericht unter Unversehrtheit; darf leer bleiben)</translation>
    </message>
    <message>
        <source>number:hash</source>
        <translation>Nummer:Hash</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>Nachprüfen</translation>
    </message>
    <message>
        <source>Checking</source>
        <translation>Nachprüfung</translation>
    </message>
    <message>
        <source>Single checks</source>
        <translation>Einzelne Prüfschritte</translation>
    </message>
    <message>
        <source>Checking …</source>
        <translation>Nachprüfung läuft …</translation>
    </message>
    <message>
        <source>Of {checks:count} checks, {faults:count} found something wrong.</source>
        <translation>Von {checks:count} Prüfungen {faults:plural(fand eine|fanden {faults:count})} etwas, was nicht stimmt.</translation>
    </message>
    <message>
        <source>{checks:count} checks; none found anything wrong.</source>
        <translation>{checks:count} Prüfungen; keine fand etwas Auffälliges.</translation>
    </message>
    <message>
        <source>Audits</source>
        <translation>Untersuchungen</translation>
    </message>
    <message>
        <source>History</source>
        <translation>Verlauf</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>Notizen</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Weiteres</translation>
    </message>
    <message>
        <source>Rename …</source>
        <translation>Umbenennen …</translation>
    </message>
    <message>
        <source>Tags …</source>
        <translation>Schlagwörter …</translation>
    </message>
    <message>
        <source>Record an event …</source>
        <translation>Vorgang festhalten …</translation>
    </message>
    <message>
        <source>Close the case</source>
        <translation>Fall schließen</translation>
    </message>
    <message>
        <source>Set a hold …</source>
        <translation>Sperre setzen …</translation>
    </message>
    <message>
        <source>Export as one file …</source>
        <translation>Als eine Datei ausgeben …</translation>
    </message>
    <message>
        <source>Erase the texts …</source>
        <translation>Texte löschen …</translation>
    </message>
    <message>
        <source>Erase everything that is kept …</source>
        <translation>Alles Aufbewahrte löschen …</translation>
    </message>
    <message>
        <source>Add a note …</source>
        <translation>Notiz hinzufügen …</translation>
    </message>
    <message>
        <source>Second person …</source>
        <translation>Zweite Person …</translation>
    </message>
    <message>
        <source>Compare …</source>
        <translation>Vergleichen …</translation>
    </message>
    <message>
        <source>Report …</source>
        <translation>Bericht …</translation>
    </message>
    <message>
        <source>No notes yet.</source>
        <translation>Noch keine Notizen.</translation>
    </message>
    <message>
        <source>Audits ({n:count})</source>
        <translation>Untersuchungen ({n:count})</translation>
    </message>
    <message>
        <source>Notes ({n:count})</source>
        <translation>Notizen ({n:count})</translation>
    </message>
    <message>
        <source>Open the case again</source>
        <translation>Fall wieder öffnen</translation>
    </message>
    <message>
        <source>Lift the hold …</source>
        <translation>Sperre aufheben …</translation>
    </message>
    <message>
        <source>Second person</source>
        <translation>Zweite Person</translation>
    </message>
    <message>
        <source>What you recomputed, and with what result</source>
        <translation>Was Sie nachgerechnet haben und mit welchem Ergebnis</translation>
    </message>
    <message>
        <source>e.g. audited the text again: same outcome and payload</source>
        <translation>z. B. Text erneut untersucht: gleicher Ausgang, gleiche Nutzlast</translation>
    </message>
    <message>
        <source>Remark (may stay empty)</source>
        <translation>Bemerkung (darf leer bleiben)</translation>
    </message>
    <message>
        <source>Confirm the finding</source>
        <translation>Befund bestätigen</translation>
    </message>
    <message>
        <source>Dispute it</source>
        <translation>Widersprechen</translation>
    </message>
    <message>
        <source>A second person has to look at a finding, not the one who examined or filed the text. The names appear in the log and in reports.</source>
        <translation>Einen Befund muss eine zweite Person ansehen, nicht die, die den Text untersucht oder abgelegt hat. Die Namen erscheinen im Protokoll und in Berichten.</translation>
    </message>
    <message>
        <source>Examined by {who:text}, {when:text}</source>
        <translation>Untersucht von {who:text}, {when:text}</translation>
    </message>
    <message>
        <source>Filed by {who:text}, {when:text}</source>
        <translation>Abgelegt von {who:text}, {when:text}</translation>
    </message>
    <message>
        <source>Save to a case</source>
        <translation>In einem Fall sichern</translation>
    </message>
    <message>
        <source>Choose a case, or type the name of a new one</source>
        <translation>Fall wählen oder den Namen eines neuen eingeben</translation>
    </message>
    <message>
        <source>Who saves</source>
        <translation>Wer sichert</translation>
    </message>
    <message>
        <source>Saved by {who:text}: change</source>
        <translation>Gesichert von {who:text}: ändern</translation>
    </message>
    <message>
        <source>Purpose (may stay empty)</source>
        <translation>Zweck (darf leer bleiben)</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>What is saved can be opened again without the model. Every step is an entry in the case log, which is only ever added to.</source>
        <translation>Was gesichert ist, lässt sich ohne Modell wieder öffnen. Jeder Schritt ist ein Eintrag im Fallbuch, dem nur hinzugefügt wird.</translation>
    </message>
    <message>
        <source>Case</source>
        <translation>Fall</translation>
    </message>
    <message>
        <source>The text itself</source>
        <translation>Der Text selbst</translation>
    </message>
    <message>
        <source>Also the other {n:plural(finished audit|{n:count} finished audits)} of the list</source>
        <translation>Auch die {n:plural(andere fertige Untersuchung|anderen {n:count} fertigen Untersuchungen)} der Liste</translation>
    </message>
    <message>
        <source>Keep it, readable for whoever can open the log</source>
        <translation>Aufbewahren, lesbar für alle, die das Fallbuch öffnen können</translation>
    </message>
    <message>
        <source>Keep it encrypted, under a passphrase</source>
        <translation>Verschlüsselt aufbewahren, unter einer Passphrase</translation>
    </message>
    <message>
        <source>Leave it out; the findings and its digest are kept</source>
        <translation>Weglassen; Befunde und Prüfsumme werden aufbewahrt</translation>
    </message>
    <message>
        <source>Anyone who is to read the text later needs it. It is not stored anywhere.</source>
        <translation>Wer den Text später lesen soll, braucht sie. Sie wird nirgends aufbewahrt.</translation>
    </message>
    <message>
        <source>Case without a name</source>
        <translation>Fall ohne Namen</translation>
    </message>
    <message>
        <source>Erased case</source>
        <translation>Gelöschter Fall</translation>
    </message>
    <message>
        <source>{name:text} (incomplete)</source>
        <translation>{name:text} (unvollständig)</translation>
    </message>
    <message>
        <source>Opened {when:text} by {who:text}</source>
        <translation>Eröffnet {when:text} von {who:text}</translation>
    </message>
    <message>
        <source>closed</source>
        <translation>geschlossen</translation>
    </message>
    <message>
        <source>on hold: nothing may be erased</source>
        <translation>gesperrt: nichts darf gelöscht werden</translation>
    </message>
    <message>
        <source>taken over from another log</source>
        <translation>aus einem anderen Fallbuch übernommen</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(examination|examinations)} failed</source>
        <translation>{n:count} {n:plural(Untersuchung misslang|Untersuchungen misslangen)}</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Examined by</source>
        <translation>Untersucht von</translation>
    </message>
    <message>
        <source>{name:text} (examination {run:count})</source>
        <translation>{name:text} (Untersuchung {run:count})</translation>
    </message>
    <message>
        <source>record missing</source>
        <translation>Aufzeichnung fehlt</translation>
    </message>
    <message>
        <source>record erased</source>
        <translation>Aufzeichnung gelöscht</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>aufbewahrt</translation>
    </message>
    <message>
        <source>encrypted</source>
        <translation>verschlüsselt</translation>
    </message>
    <message>
        <source>left out</source>
        <translation>ausgelassen</translation>
    </message>
    <message>
        <source>not yet</source>
        <translation>noch nicht</translation>
    </message>
    <message>
        <source>confirmed by {who:text}</source>
        <translation>bestätigt von {who:text}</translation>
    </message>
    <message>
        <source>disputed by {who:text}</source>
        <translation>Widerspruch von {who:text}</translation>
    </message>
    <message>
        <source>No.</source>
        <translation>Nr.</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Wann</translation>
    </message>
    <message>
        <source>Who</source>
        <translation>Wer</translation>
    </message>
    <message>
        <source>What</source>
        <translation>Was</translation>
    </message>
    <message>
        <source>the program</source>
        <translation>das Programm</translation>
    </message>
    <message>
        <source>{who:text} (entered by {operator:text})</source>
        <translation>{who:text} (eingetragen von {operator:text})</translation>
    </message>
    <message>
        <source>Cases</source>
        <translation>Fälle</translation>
    </message>
    <message>
        <source>Search names, notes, files, digests</source>
        <translation>Namen, Notizen, Dateien, Prüfsummen suchen</translation>
    </message>
    <message>
        <source>Search the cases</source>
        <translation>In den Fällen suchen</translation>
    </message>
    <message>
        <source>Which cases</source>
        <translation>Welche Fälle</translation>
    </message>
    <message>
        <source>All cases</source>
        <translation>Alle Fälle</translation>
    </message>
    <message>
        <source>Without a second person</source>
        <translation>Ohne zweite Person</translation>
    </message>
    <message>
        <source>On hold</source>
        <translation>Gesperrt</translation>
    </message>
    <message>
        <source>Closed</source>
        <translation>Geschlossen</translation>
    </message>
    <message>
        <source>New case …</source>
        <translation>Neuer Fall …</translation>
    </message>
    <message>
        <source>Import …</source>
        <translation>Importieren …</translation>
    </message>
    <message>
        <source>Check the log …</source>
        <translation>Fallbuch prüfen …</translation>
    </message>
    <message>
        <source>Saved</source>
        <translation>Gesichert</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>Geändert</translation>
    </message>
    <message>
        <source>No case fits the search.</source>
        <translation>Kein Fall passt zur Suche.</translation>
    </message>
    <message>
        <source>No cases yet. Save a finished audit with Ctrl+S, or open a new case.</source>
        <translation>Noch keine Fälle. Sichern Sie eine fertige Untersuchung mit Strg+S oder eröffnen Sie einen Fall.</translation>
    </message>
    <message>
        <source>New case</source>
        <translation>Neuer Fall</translation>
    </message>
    <message>
        <source>Open the case</source>
        <translation>Fall eröffnen</translation>
    </message>
    <message>
        <source>Notes (may stay empty)</source>
        <translation>Notizen (dürfen leer bleiben)</translation>
    </message>
    <message>
        <source>Import a case</source>
        <translation>Fall übernehmen</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(thing was|things were)} erased.</source>
        <translation>{n:count} {n:plural(Angabe wurde|Angaben wurden)} gelöscht.</translation>
    </message>
    <message>
        <source>Record an event</source>
        <translation>Vorgang festhalten</translation>
    </message>
    <message>
        <source>What happened</source>
        <translation>Was geschah</translation>
    </message>
    <message>
        <source>From whom, how, where</source>
        <translation>Von wem, wie, wo</translation>
    </message>
    <message>
        <source>Released by (may stay empty)</source>
        <translation>Übergeben von (darf leer bleiben)</translation>
    </message>
    <message>
        <source>Received by (may stay empty)</source>
        <translation>Übernommen von (darf leer bleiben)</translation>
    </message>
    <message>
        <source>Hash of the item (may stay empty)</source>
        <translation>Hash des Gegenstands (darf leer bleiben)</translation>
    </message>
    <message>
        <source>Record</source>
        <translation>Festhalten</translation>
    </message>
    <message>
        <source>Every handler and every transfer of the item belongs on record. An entry cannot be changed later.</source>
        <translation>Jede Person, die den Gegenstand in Händen hatte, und jede Übergabe wird festgehalten. Ein Eintrag lässt sich später nicht ändern.</translation>
    </message>
    <message>
        <source>Passphrase of the kept texts</source>
        <translation>Passphrase der aufbewahrten Texte</translation>
    </message>
    <message>
        <source>By the settings, examined texts are kept encrypted. Anyone who is to read one later needs this passphrase; it is not stored anywhere. It is asked for once a session.</source>
        <translation>Untersuchte Texte werden laut Einstellungen verschlüsselt aufbewahrt. Wer später einen lesen soll, braucht diese Passphrase; sie wird nirgends aufbewahrt. Gefragt wird einmal je Sitzung.</translation>
    </message>
    <message>
        <source>Unfiled</source>
        <translation>Nicht zugeordnet</translation>
    </message>
</context>
<context>
    <name>Compare</name>
    <message>
        <source>Compare two audits</source>
        <translation>Zwei Untersuchungen vergleichen</translation>
    </message>
    <message>
        <source>First audit</source>
        <translation>Erste Untersuchung</translation>
    </message>
    <message>
        <source>Second audit</source>
        <translation>Zweite Untersuchung</translation>
    </message>
    <message>
        <source>Comparison</source>
        <translation>Vergleich</translation>
    </message>
    <message>
        <source>Texts side by side …</source>
        <translation>Texte nebeneinander …</translation>
    </message>
    <message>
        <source>Two finished audits are needed. Audit texts first.</source>
        <translation>Dazu braucht es zwei abgeschlossene Untersuchungen. Untersuchen Sie erst Texte.</translation>
    </message>
    <message>
        <source>{n:plural(One|{n:count})} of {all:count} lines {n:plural(differs|differ)}.</source>
        <translation>{n:plural(Eine|{n:count})} von {all:count} Zeilen {n:plural(weicht|weichen)} ab.</translation>
    </message>
    <message>
        <source>Nothing differs, the evidence within its tolerance.</source>
        <translation>Nichts weicht ab, die Anhaltspunkte innerhalb ihrer Toleranz.</translation>
    </message>
    <message>
        <source>What</source>
        <translation>Was</translation>
    </message>
    <message>
        <source>known</source>
        <translation>bekannt</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>Item</source>
        <translation>Gegenstand</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Profile</source>
        <translation>Profil</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>Decoder</source>
        <translation>Dekodierer</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source>Payload</source>
        <translation>Nutzlast</translation>
    </message>
    <message>
        <source>Repaired positions</source>
        <translation>Berichtigte Stellen</translation>
    </message>
    <message>
        <source>Usable positions</source>
        <translation>Verwertbare Stellen</translation>
    </message>
    <message>
        <source>Evidence (log₁₀)</source>
        <translation>Anhaltspunkte (log₁₀)</translation>
    </message>
</context>
<context>
    <name>Course</name>
    <message>
        <source>Evidence along the text</source>
        <translation>Anhaltspunkte im Textverlauf</translation>
    </message>
    <message>
        <source>Only what is on screen of the text</source>
        <translation>Nur was vom Text zu sehen ist</translation>
    </message>
    <message>
        <source>decision threshold</source>
        <translation>Entscheidungsschwelle</translation>
    </message>
    <message>
        <source>{value:text} at token {n:text}</source>
        <translation>{value:text} bei Token {n:text}</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Entropy (bits)</source>
        <translation>Entropie (Bit)</translation>
    </message>
    <message>
        <source>Evidence (log₁₀)</source>
        <translation>Anhaltspunkte (log₁₀)</translation>
    </message>
    <message>
        <source>Sum (log₁₀)</source>
        <translation>Summe (log₁₀)</translation>
    </message>
    <message>
        <source>In a marked passage</source>
        <translation>In einer markierten Passage</translation>
    </message>
    <message>
        <source>Evidence of the text as far as it has been read, in log₁₀: {value:text}.</source>
        <translation>Anhaltspunkte des Textes, soweit er gelesen ist, in log₁₀: {value:text}.</translation>
    </message>
    <message>
        <source>Evidence for the decoded payload over {n:count} tokens, in log₁₀. It starts at {start:text}, since the payload was chosen after seeing the text, and ends at {end:text}.</source>
        <translation>Anhaltspunkte für die gelesene Nutzlast über {n:count} Token, in log₁₀. Sie beginnen bei {start:text}, weil die Nutzlast erst nach Ansicht des Textes gewählt wurde, und enden bei {end:text}.</translation>
    </message>
    <message>
        <source>{n:plural(One passage is|{n:count} passages are)} marked.</source>
        <translation>{n:plural(Eine Passage ist|{n:count} Passagen sind)} markiert.</translation>
    </message>
</context>
<context>
    <name>Dialog</name>
    <message>
        <source>Candidates</source>
        <translation>Kandidaten</translation>
    </message>
    <message>
        <source>What</source>
        <translation>Was</translation>
    </message>
    <message>
        <source>Shortcut</source>
        <translation>Tasten</translation>
    </message>
    <message>
        <source>Sort (in a table of texts or payloads)</source>
        <translation>Sortieren (in einer Tabelle von Texten oder Nutzlasten)</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>Menü</translation>
    </message>
    <message>
        <source>Token to token, line to line (in the text)</source>
        <translation>Von Token zu Token, von Zeile zu Zeile (im Text)</translation>
    </message>
    <message>
        <source>Bit to bit, lane to lane (in the bits)</source>
        <translation>Von Bit zu Bit, von Reihe zu Reihe (in den Bits)</translation>
    </message>
    <message>
        <source>From card to card</source>
        <translation>Von Karte zu Karte</translation>
    </message>
    <message>
        <source>Remove a text (in the list)</source>
        <translation>Einen Text entfernen (in der Liste)</translation>
    </message>
    <message>
        <source>About PURA Audit</source>
        <translation>Über PURA Audit</translation>
    </message>
    <message>
        <source>Reads marks of the PURA-1 scheme. Apache License 2.0. Qt under the LGPL 3, Inter under the SIL Open Font License.</source>
        <translation>Liest Markierungen des Verfahrens PURA-1. Apache-Lizenz 2.0. Qt unter der LGPL 3, Inter unter der SIL Open Font License.</translation>
    </message>
    <message>
        <source>Versions</source>
        <translation>Versionen</translation>
    </message>
    <message>
        <source>Licences</source>
        <translation>Lizenzen</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rang</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>Anteil</translation>
    </message>
    <message>
        <source>Payload</source>
        <translation>Nutzlast</translation>
    </message>
    <message>
        <source>Register</source>
        <translation>Register</translation>
    </message>
    <message>
        <source>Shares of 1, all payloads counting alike beforehand. They rank the payloads under the assumption that the text carries a mark of this key.</source>
        <translation>Anteile an 1; vorab zählen alle Nutzlasten gleich. Sie ordnen die Nutzlasten unter der Annahme, dass der Text eine Markierung dieses Schlüssels trägt.</translation>
    </message>
    <message>
        <source>What weakens or limits this</source>
        <translation>Was das Ergebnis schwächt oder begrenzt</translation>
    </message>
    <message>
        <source>What to do next</source>
        <translation>Was als Nächstes zu tun ist</translation>
    </message>
    <message>
        <source>The findings in full</source>
        <translation>Die Befunde im Einzelnen</translation>
    </message>
    <message>
        <source>Each mark</source>
        <translation>Jede Markierung</translation>
    </message>
    <message>
        <source>Scale</source>
        <translation>Skala</translation>
    </message>
    <message>
        <source>Readings of the text</source>
        <translation>Lesarten des Textes</translation>
    </message>
    <message>
        <source>After candidate prompts</source>
        <translation>Nach möglichen Prompts</translation>
    </message>
    <message>
        <source>Measured with</source>
        <translation>Gemessen mit</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Examined on</source>
        <translation>Untersucht am</translation>
    </message>
    <message>
        <source>Noted on</source>
        <translation>Vermerkt am</translation>
    </message>
    <message>
        <source>as found</source>
        <translation>wie vorgefunden</translation>
    </message>
    <message>
        <source>typographic changes undone</source>
        <translation>typografische Änderungen zurückgenommen</translation>
    </message>
    <message>
        <source>lines and blanks restored too</source>
        <translation>auch Zeilen und Leerzeichen wiederhergestellt</translation>
    </message>
    <message>
        <source>capitals restored too</source>
        <translation>auch Großschreibung wiederhergestellt</translation>
    </message>
    <message>
        <source>broken words mended and signs put back too</source>
        <translation>auch Wörter berichtigt und Zeichen ergänzt</translation>
    </message>
    <message>
        <source>token ids as saved</source>
        <translation>Token-Nummern wie gespeichert</translation>
    </message>
    <message>
        <source>{name:text}: evidence {value:text} (log₁₀), {n:count} tokens</source>
        <translation>{name:text}: Anhaltspunkte {value:text} (log₁₀), {n:count} Token</translation>
    </message>
    <message>
        <source>shown</source>
        <translation>gezeigt</translation>
    </message>
    <message>
        <source>prompt {i:count}: evidence {value:text} (log₁₀), {n:count} tokens before</source>
        <translation>Prompt {i:count}: Anhaltspunkte {value:text} (log₁₀), {n:count} Token davor</translation>
    </message>
    <message>
        <source>{n:count} more, with less evidence</source>
        <translation>{n:count} weitere mit weniger Anhaltspunkten</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Tokenizer</source>
        <translation>Tokenizer</translation>
    </message>
    <message>
        <source>Profile</source>
        <translation>Profil</translation>
    </message>
    <message>
        <source>For whom, when</source>
        <translation>Für wen, wann</translation>
    </message>
    <message>
        <source>In addition</source>
        <translation>Außerdem</translation>
    </message>
    <message>
        <source>What it rests on</source>
        <translation>Worauf das beruht</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>Input</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <source>Usable positions</source>
        <translation>Verwertbare Stellen</translation>
    </message>
    <message>
        <source>{names:text}. The number is the mean over all of them.</source>
        <translation>{names:text}. Die Zahl ist das Mittel über alle.</translation>
    </message>
    <message>
        <source>Keys tried</source>
        <translation>Versuchte Schlüssel</translation>
    </message>
    <message>
        <source>left out</source>
        <translation>ausgelassen</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Einzelheiten</translation>
    </message>
    <message>
        <source>Full wording</source>
        <translation>Voller Wortlaut</translation>
    </message>
    <message>
        <source>Sort the table</source>
        <translation>Tabelle sortieren</translation>
    </message>
    <message>
        <source>Copy table</source>
        <translation>Tabelle kopieren</translation>
    </message>
    <message>
        <source>Still needed: {what:text}</source>
        <translation>Es fehlt noch: {what:text}</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>What is compared</source>
        <translation>Was verglichen wird</translation>
    </message>
</context>
<context>
    <name>Drop</name>
    <message>
        <source>Drop files or a folder here</source>
        <translation>Dateien oder Ordner hier ablegen</translation>
    </message>
    <message>
        <source>Drop files or a folder</source>
        <translation>Dateien oder Ordner ablegen</translation>
    </message>
    <message>
        <source>or paste a text · text, Word, PDF</source>
        <translation>oder Text einfügen · Text, Word, PDF</translation>
    </message>
</context>
<context>
    <name>Dropped</name>
    <message>
        <source>“{file:text}” is no text: open it by itself.</source>
        <translation>»{file:text}« ist kein Text: Öffnen Sie die Datei für sich.</translation>
    </message>
    <message>
        <source>“{file:text}” is a rule of the organisation, not a text: whoever administers this computer puts it in place (guide, For administrators).</source>
        <translation>»{file:text}« ist eine Regel der Organisation und kein Text: Wer diesen Rechner verwaltet, legt sie an ihren Platz (Handbuch, Für die Verwaltung).</translation>
    </message>
</context>
<context>
    <name>Empty</name>
    <message>
        <source>Drop a text here</source>
        <translation>Hier einen Text ablegen</translation>
    </message>
    <message>
        <source>One file, many, or a folder; or paste a text. It is read on this computer, and nothing leaves it.</source>
        <translation>Eine Datei, viele oder einen Ordner; oder fügen Sie einen Text ein. Er wird auf diesem Rechner gelesen, und nichts verlässt ihn.</translation>
    </message>
    <message>
        <source>Open files …</source>
        <translation>Dateien öffnen …</translation>
    </message>
    <message>
        <source>Paste a text</source>
        <translation>Text einfügen</translation>
    </message>
    <message>
        <source>Try the sample</source>
        <translation>Beispiel ausprobieren</translation>
    </message>
    <message>
        <source>The answer</source>
        <translation>Die Antwort</translation>
    </message>
    <message>
        <source>Whether a mark was found, how strong it is, and for whom.</source>
        <translation>Ob eine Markierung gefunden wurde, wie stark sie ist, und für wen.</translation>
    </message>
    <message>
        <source>The text</source>
        <translation>Der Text</translation>
    </message>
    <message>
        <source>Shaded where the mark is; a strip shows the whole document.</source>
        <translation>Schattiert, wo die Markierung ist; ein Streifen zeigt das ganze Dokument.</translation>
    </message>
    <message>
        <source>The reasons</source>
        <translation>Die Gründe</translation>
    </message>
    <message>
        <source>Token by token, bit by bit, and how the evidence grows.</source>
        <translation>Token für Token, Bit für Bit, und wie die Evidenz wächst.</translation>
    </message>
</context>
<context>
    <name>Error</name>
    <message>
        <source>No statement is made about the text. It stays in the list, all other findings are safe, and the other texts go on.</source>
        <translation>Über den Text wird nichts ausgesagt. Er bleibt in der Liste, alle anderen Befunde bleiben erhalten, und die anderen Texte gehen weiter.</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal versuchen</translation>
    </message>
    <message>
        <source>Install it or put it back, or choose another model.</source>
        <translation>Installieren Sie es oder legen Sie es zurück, oder wählen Sie ein anderes Modell.</translation>
    </message>
    <message>
        <source>Models …</source>
        <translation>Modelle …</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>The program made a mistake ({kind:text}).</source>
        <translation>Das Programm hat einen Fehler gemacht ({kind:text}).</translation>
    </message>
    <message>
        <source>Try once more. If it happens again, send the log file (Help) to your support.</source>
        <translation>Versuchen Sie es noch einmal. Geschieht es wieder, schicken Sie die Protokolldatei (Hilfe) an Ihren Support.</translation>
    </message>
</context>
<context>
    <name>Expect</name>
    <message>
        <source>The audit takes about {time:text} on this computer.</source>
        <translation>Die Untersuchung dauert auf diesem Rechner etwa {time:text}.</translation>
    </message>
    <message>
        <source>If this text is marked, it can carry about {n:count} of {all:count} bits (an estimate).</source>
        <translation>Falls dieser Text markiert ist, kann er etwa {n:count} von {all:count} Bits tragen (Schätzung).</translation>
    </message>
    <message>
        <source>The text is mostly code or numbers, which carry less.</source>
        <translation>Der Text besteht vor allem aus Programmtext oder Zahlen, die weniger tragen.</translation>
    </message>
    <message>
        <source>The text does not look English; other languages were not measured.</source>
        <translation>Der Text wirkt nicht englisch; andere Sprachen wurden nicht gemessen.</translation>
    </message>
    <message>
        <source>The text is short; too little evidence is likely.</source>
        <translation>Der Text ist kurz; wahrscheinlich reichen die Anhaltspunkte nicht.</translation>
    </message>
    <message>
        <source>The text repeats itself, which adds nothing.</source>
        <translation>Der Text wiederholt sich; das trägt nichts bei.</translation>
    </message>
</context>
<context>
    <name>Find</name>
    <message>
        <source>Find in the text</source>
        <translation>Im Text suchen</translation>
    </message>
    <message>
        <source>Previous</source>
        <translation>Vorige Fundstelle</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Nächste Fundstelle</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>nicht gefunden</translation>
    </message>
    <message>
        <source>Clear the field</source>
        <translation>Feld leeren</translation>
    </message>
</context>
<context>
    <name>Fitness</name>
    <message>
        <source>Fitness of a model</source>
        <translation>Eignung eines Modells</translation>
    </message>
    <message>
        <source>not here</source>
        <translation>nicht vorhanden</translation>
    </message>
    <message>
        <source>Use a file of marked texts …</source>
        <translation>Datei mit markierten Texten verwenden …</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>Messen</translation>
    </message>
    <message>
        <source>Measurements</source>
        <translation>Messwerte</translation>
    </message>
    <message>
        <source>How well does “{model:text}” read marks?</source>
        <translation>Wie gut liest »{model:text}« Markierungen?</translation>
    </message>
    <message>
        <source>Texts with known payloads are read with this model. They are made on the spot by the generating model, or come from a file.</source>
        <translation>Texte mit bekannten Nutzlasten werden mit diesem Modell gelesen. Sie werden vom erzeugenden Modell an Ort und Stelle gemacht oder kommen aus einer Datei.</translation>
    </message>
    <message>
        <source>Profile</source>
        <translation>Profil</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Generating model</source>
        <translation>Erzeugendes Modell</translation>
    </message>
    <message>
        <source>Texts to make</source>
        <translation>Zahl der Texte</translation>
    </message>
    <message>
        <source>Tokens of each</source>
        <translation>Token je Text</translation>
    </message>
    <message>
        <source>Marked texts</source>
        <translation>Markierte Texte</translation>
    </message>
    <message>
        <source>JSON Lines (*.jsonl)</source>
        <translation>JSON-Zeilen (*.jsonl)</translation>
    </message>
    <message>
        <source>Texts of “{file:text}” (change …)</source>
        <translation>Texte aus »{file:text}« (ändern …)</translation>
    </message>
    <message>
        <source>What</source>
        <translation>Was</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>Wert</translation>
    </message>
    <message>
        <source>95 % interval</source>
        <translation>95-%-Intervall</translation>
    </message>
    <message>
        <source>A good proxy for this profile: {counts:text}</source>
        <translation>Ein guter Stellvertreter für dieses Profil: {counts:text}</translation>
    </message>
    <message>
        <source>A usable proxy for this profile; short or edited texts may be missed: {counts:text}</source>
        <translation>Ein brauchbarer Stellvertreter für dieses Profil; kurze oder bearbeitete Texte können entgehen: {counts:text}</translation>
    </message>
    <message>
        <source>A poor proxy for this profile; most marked texts would be missed: {counts:text}</source>
        <translation>Ein schlechter Stellvertreter für dieses Profil; die meisten markierten Texte würden entgehen: {counts:text}</translation>
    </message>
    <message>
        <source>Too few texts for a word: {counts:text}</source>
        <translation>Zu wenige Texte für ein Urteil: {counts:text}</translation>
    </message>
    <message>
        <source>of {n:plural(one marked text|{n:count} marked texts)}, {reached:count} reached the evidence of a mark and {whole:plural(one gave its|{whole:count} gave their)} whole payload.</source>
        <translation>von {n:plural(einem markierten Text|{n:count} markierten Texten)} {reached:plural(erreichte einer|erreichten {reached:count})} die Anhaltspunkte einer Markierung, und {whole:plural(einer gab seine|{whole:count} gaben ihre)} ganze Nutzlast her.</translation>
    </message>
    <message>
        <source>The texts were made by this model itself: this says how well the profile works, not how good a proxy it is.</source>
        <translation>Die Texte stammen von diesem Modell selbst: Das sagt, wie gut das Profil arbeitet, nicht, wie gut das Modell als Stellvertreter ist.</translation>
    </message>
    <message>
        <source>Good: at least 90 % of the texts reach evidence of 6 (log₁₀), and at least 80 % give their whole payload. Usable: at least 50 % reach it. Poor: fewer. Below {least:count} texts there is no word.</source>
        <translation>Gut: Mindestens 90 % der Texte erreichen Anhaltspunkte von 6 (log₁₀), und mindestens 80 % ergeben ihre ganze Nutzlast. Brauchbar: Mindestens 50 % erreichen es. Schlecht: weniger. Unter {least:count} Texten gibt es kein Urteil.</translation>
    </message>
    <message>
        <source>Texts that reach evidence of 6 (log₁₀)</source>
        <translation>Texte, die Anhaltspunkte von 6 (log₁₀) erreichen</translation>
    </message>
    <message>
        <source>Texts that give their whole payload</source>
        <translation>Texte, die ihre ganze Nutzlast ergeben</translation>
    </message>
    <message>
        <source>Payload bits that are right</source>
        <translation>Richtige Bits der Nutzlast</translation>
    </message>
    <message>
        <source>Evidence a text (log₁₀)</source>
        <translation>Anhaltspunkte je Text (log₁₀)</translation>
    </message>
    <message>
        <source>Evidence for 100 tokens (log₁₀)</source>
        <translation>Anhaltspunkte je 100 Token (log₁₀)</translation>
    </message>
    <message>
        <source>Divergence from “{model:text}” (bits a token)</source>
        <translation>Abstand von »{model:text}« (Bits je Token)</translation>
    </message>
    <message>
        <source>{low:text} to {high:text}</source>
        <translation>{low:text} bis {high:text}</translation>
    </message>
</context>
<context>
    <name>Folder</name>
    <message>
        <source>Nothing was left out of a folder so far.</source>
        <translation>Bisher wurde in keinem Ordner etwas ausgelassen.</translation>
    </message>
    <message>
        <source>What was left out</source>
        <translation>Was ausgelassen wurde</translation>
    </message>
    <message>
        <source>Open a folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Take these names only</source>
        <translation>Nur diese Namen nehmen</translation>
    </message>
    <message>
        <source>for example *.docx *.pdf; empty: every format that is read</source>
        <translation>zum Beispiel *.docx *.pdf; leer: jedes Format, das gelesen wird</translation>
    </message>
    <message>
        <source>Leave these names out</source>
        <translation>Diese Namen auslassen</translation>
    </message>
    <message>
        <source>for example old* *.bak</source>
        <translation>zum Beispiel alt* *.bak</translation>
    </message>
    <message>
        <source>Enter the folders inside</source>
        <translation>Auch Ordner darin durchgehen</translation>
    </message>
    <message>
        <source>Take hidden files too</source>
        <translation>Auch verborgene Dateien nehmen</translation>
    </message>
    <message>
        <source>Follow symbolic links</source>
        <translation>Symbolischen Verknüpfungen folgen</translation>
    </message>
    <message>
        <source>Open the folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>These choices also hold for folders that are dropped on the window.</source>
        <translation>Diese Wahl gilt auch für Ordner, die auf das Fenster gezogen werden.</translation>
    </message>
    <message>
        <source>There is no file in that folder that can be read.</source>
        <translation>In diesem Ordner gibt es keine Datei, die gelesen werden kann.</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(file|files)} taken from the folder.</source>
        <translation>{n:count} {n:plural(Datei|Dateien)} aus dem Ordner genommen.</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(name was|names were)} left out (File, What was left out).</source>
        <translation>{n:count} {n:plural(Name wurde|Namen wurden)} ausgelassen (Datei, Was ausgelassen wurde).</translation>
    </message>
    <message>
        <source>hidden</source>
        <translation>verborgen</translation>
    </message>
    <message>
        <source>symbolic link</source>
        <translation>symbolische Verknüpfung</translation>
    </message>
    <message>
        <source>the filter leaves it out</source>
        <translation>der Filter lässt es aus</translation>
    </message>
    <message>
        <source>not a format that is read</source>
        <translation>kein Format, das gelesen wird</translation>
    </message>
    <message>
        <source>lock file of an office program</source>
        <translation>Sperrdatei eines Büroprogramms</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>leer</translation>
    </message>
    <message>
        <source>pipe, device or socket</source>
        <translation>Pipe, Gerät oder Socket</translation>
    </message>
    <message>
        <source>cannot be read</source>
        <translation>kann nicht gelesen werden</translation>
    </message>
    <message>
        <source>reached a second time through a link</source>
        <translation>über eine Verknüpfung ein zweites Mal erreicht</translation>
    </message>
    <message>
        <source>too many levels down</source>
        <translation>zu viele Ebenen tief</translation>
    </message>
    <message>
        <source>subfolder, not asked for</source>
        <translation>Unterordner, nicht gewünscht</translation>
    </message>
    <message>
        <source>beyond the most files that are taken</source>
        <translation>mehr Dateien, als höchstens genommen werden</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>Warum</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>Wo</translation>
    </message>
</context>
<context>
    <name>ForeignForm</name>
    <message>
        <source>Profile of a mark by others</source>
        <translation>Profil einer fremden Markierung</translation>
    </message>
    <message>
        <source>Enter what the program that writes the mark was started with, or take its settings file. Its key is sealed under a key of yours; keep no other copy here.</source>
        <translation>Geben Sie ein, womit das Programm gestartet wurde, das die Markierung schreibt, oder nehmen Sie seine Einstellungsdatei. Sein Schlüssel wird unter einem Schlüssel von Ihnen versiegelt; behalten Sie hier keine andere Kopie.</translation>
    </message>
    <message>
        <source>Settings file …</source>
        <translation>Einstellungsdatei …</translation>
    </message>
    <message>
        <source>Make the profile</source>
        <translation>Profil anlegen</translation>
    </message>
    <message>
        <source>one key only</source>
        <translation>nur ein Schlüssel</translation>
    </message>
    <message>
        <source>as many as the tokenizer has tokens</source>
        <translation>so viele, wie der Tokenizer Token hat</translation>
    </message>
    <message>
        <source>a number for each layer; not shown</source>
        <translation>eine Zahl je Schicht; wird nicht angezeigt</translation>
    </message>
    <message>
        <source>a number; not shown</source>
        <translation>eine Zahl; wird nicht angezeigt</translation>
    </message>
    <message>
        <source>0x and digits, one key or two; not shown</source>
        <translation>0x und Ziffern, ein Schlüssel oder zwei; wird nicht angezeigt</translation>
    </message>
    <message>
        <source>Settings of the other program</source>
        <translation>Einstellungen des anderen Programms</translation>
    </message>
    <message>
        <source>Settings (*.json)</source>
        <translation>Einstellungen (*.json)</translation>
    </message>
    <message>
        <source>A key and a model&apos;s tokenizer are needed.</source>
        <translation>Ein Schlüssel und der Tokenizer eines Modells sind nötig.</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Scheme</source>
        <translation>Verfahren</translation>
    </message>
    <message>
        <source>Key of the other program</source>
        <translation>Schlüssel des anderen Programms</translation>
    </message>
    <message>
        <source>Context, tokens</source>
        <translation>Kontext, Token</translation>
    </message>
    <message>
        <source>Share of the second key</source>
        <translation>Anteil des zweiten Schlüssels</translation>
    </message>
    <message>
        <source>Share of the first key</source>
        <translation>Anteil des ersten Schlüssels</translation>
    </message>
    <message>
        <source>Entries of the table</source>
        <translation>Einträge der Tabelle</translation>
    </message>
    <message>
        <source>Seed of the table</source>
        <translation>Startwert der Tabelle</translation>
    </message>
    <message>
        <source>Share of green tokens</source>
        <translation>Anteil grüner Token</translation>
    </message>
    <message>
        <source>Seeding</source>
        <translation>Startwert der Listen</translation>
    </message>
    <message>
        <source>Rows of the model&apos;s output</source>
        <translation>Zeilen der Ausgabe des Modells</translation>
    </message>
    <message>
        <source>Sealed under</source>
        <translation>Versiegelt unter</translation>
    </message>
    <message>
        <source>Tokenizer of</source>
        <translation>Tokenizer von</translation>
    </message>
</context>
<context>
    <name>Guide</name>
    <message>
        <source>User guide</source>
        <translation>Benutzerhandbuch</translation>
    </message>
    <message>
        <source>Find in this page</source>
        <translation>Auf dieser Seite suchen</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>Beginning</source>
        <translation>Anfang</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>nicht gefunden</translation>
    </message>
</context>
<context>
    <name>Header</name>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Try several keys …</source>
        <translation>Mehrere Schlüssel versuchen …</translation>
    </message>
    <message>
        <source>Manage keys …</source>
        <translation>Schlüssel verwalten …</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Manage models …</source>
        <translation>Modelle verwalten …</translation>
    </message>
    <message>
        <source>Profile</source>
        <translation>Profil</translation>
    </message>
    <message>
        <source>Manage profiles …</source>
        <translation>Profile verwalten …</translation>
    </message>
    <message>
        <source>Save as a set-up …</source>
        <translation>Als Einrichtung speichern …</translation>
    </message>
    <message>
        <source>Set up another …</source>
        <translation>Weitere Einrichtung …</translation>
    </message>
    <message>
        <source>Issued</source>
        <translation>Ausgegeben</translation>
    </message>
    <message>
        <source>To whom payloads were issued (Ctrl+I)</source>
        <translation>An wen Nutzlasten ausgegeben wurden (Strg+I)</translation>
    </message>
    <message>
        <source>Finding the device</source>
        <translation>Gerät wird gesucht</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Audit</source>
        <translation>Untersuchen</translation>
    </message>
    <message>
        <source>Ctrl+⏎</source>
        <translation>Strg+⏎</translation>
    </message>
    <message>
        <source>The set-up “{name:text}” lacks: {parts:text}.</source>
        <translation>Der Einrichtung »{name:text}« fehlt: {parts:text}.</translation>
    </message>
    <message>
        <source>Add a text first: paste it, open it or drop it here.</source>
        <translation>Fügen Sie zuerst einen Text hinzu: einfügen, öffnen oder hier ablegen.</translation>
    </message>
    <message>
        <source>Audit (Ctrl+Return)</source>
        <translation>Untersuchen (Strg+Eingabe)</translation>
    </message>
    <message>
        <source>looking …</source>
        <translation>wird gesucht …</translation>
    </message>
    <message>
        <source>No key yet: make one under “Manage keys …”.</source>
        <translation>Noch kein Schlüssel: Legen Sie unter »Schlüssel verwalten …« einen an.</translation>
    </message>
    <message>
        <source>Set-up</source>
        <translation>Einrichtung</translation>
    </message>
    <message>
        <source>Choose or make a set-up first.</source>
        <translation>Wählen Sie zuerst eine Einrichtung, oder legen Sie eine an.</translation>
    </message>
    <message>
        <source>No model yet: install one under “Manage models …”.</source>
        <translation>Noch kein Modell: Installieren Sie unter »Modelle verwalten …« eines.</translation>
    </message>
    <message>
        <source>No profile yet: make one under “Manage profiles …”.</source>
        <translation>Noch kein Profil: Legen Sie unter »Profile verwalten …« eines an.</translation>
    </message>
    <message>
        <source>none yet</source>
        <translation>noch keine</translation>
    </message>
    <message>
        <source>other key</source>
        <translation>anderer Schlüssel</translation>
    </message>
    <message>
        <source>other model</source>
        <translation>anderes Modell</translation>
    </message>
    <message>
        <source>other profile</source>
        <translation>anderes Profil</translation>
    </message>
    <message>
        <source>{name:text} with {parts:text}</source>
        <translation>{name:text}, {parts:text}</translation>
    </message>
    <message>
        <source>Changed by hand; choose the set-up again to undo it.</source>
        <translation>Von Hand geändert; die Einrichtung noch einmal wählen, um das zurückzunehmen.</translation>
    </message>
    <message>
        <source>key missing</source>
        <translation>Schlüssel fehlt</translation>
    </message>
    <message>
        <source>profile missing</source>
        <translation>Profil fehlt</translation>
    </message>
    <message>
        <source>payload of {n:text} bits</source>
        <translation>Nutzlast mit {n:text} Bits</translation>
    </message>
    <message>
        <source>none</source>
        <translation>fehlt</translation>
    </message>
    <message>
        <source>No device</source>
        <translation>Kein Gerät</translation>
    </message>
</context>
<context>
    <name>Issued</name>
    <message>
        <source>Entry</source>
        <translation>Eintrag</translation>
    </message>
    <message>
        <source>To whom</source>
        <translation>An wen</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Wann</translation>
    </message>
    <message>
        <source>For what</source>
        <translation>Wofür</translation>
    </message>
    <message>
        <source>Payload</source>
        <translation>Nutzlast</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Manifest</source>
        <translation>Manifest</translation>
    </message>
    <message>
        <source>Question kept until</source>
        <translation>Frage aufbewahrt bis</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Search what was issued</source>
        <translation>Ausgegebenes durchsuchen</translation>
    </message>
    <message>
        <source>Where to search</source>
        <translation>Wo gesucht wird</translation>
    </message>
    <message>
        <source>Issued payloads</source>
        <translation>Ausgegebene Nutzlasten</translation>
    </message>
    <message>
        <source>Progress of the import</source>
        <translation>Fortschritt des Imports</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Import …</source>
        <translation>Importieren …</translation>
    </message>
    <message>
        <source>Export …</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <source>Mark a text …</source>
        <translation>Text markieren …</translation>
    </message>
    <message>
        <source>Back to the texts</source>
        <translation>Zurück zu den Texten</translation>
    </message>
    <message>
        <source>Assign to a key …</source>
        <translation>Einem Schlüssel zuordnen …</translation>
    </message>
    <message>
        <source>Epoch of the key</source>
        <translation>Epoche des Schlüssels</translation>
    </message>
    <message>
        <source>Look it up</source>
        <translation>Nachschlagen</translation>
    </message>
    <message>
        <source>The payload of a text, as a finding or a log names it.</source>
        <translation>Die Nutzlast eines Textes, wie ein Befund oder ein Protokoll sie nennt.</translation>
    </message>
    <message>
        <source>Who got this?</source>
        <translation>Wer hat das bekommen?</translation>
    </message>
    <message>
        <source>A table or a log …</source>
        <translation>Eine Tabelle oder ein Protokoll …</translation>
    </message>
    <message>
        <source>A folder of logs …</source>
        <translation>Ein Ordner mit Protokollen …</translation>
    </message>
    <message>
        <source>Under the key {key:text} of the chosen set-up.</source>
        <translation>Unter dem Schlüssel {key:text} der gewählten Einrichtung.</translation>
    </message>
    <message>
        <source>Everywhere</source>
        <translation>Überall</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(payload|payloads)} issued</source>
        <translation>{n:count} {n:plural(Nutzlast|Nutzlasten)} ausgegeben</translation>
    </message>
    <message>
        <source>{n:count} found</source>
        <translation>{n:count} gefunden</translation>
    </message>
    <message>
        <source>the first {n:count} are shown: search for others</source>
        <translation>die ersten {n:count} werden gezeigt: suchen Sie nach anderen</translation>
    </message>
    <message>
        <source>Nothing that was issued has this in it.</source>
        <translation>Nichts Ausgegebenes enthält das.</translation>
    </message>
    <message>
        <source>Nothing was issued yet. The register says to whom each payload went: import the log of the engine that marks your texts or a table of your own, or mark a text here.</source>
        <translation>Noch wurde nichts ausgegeben. Das Register sagt, an wen jede Nutzlast ging: Importieren Sie das Protokoll der Anlage, die Ihre Texte markiert, oder eine eigene Tabelle, oder markieren Sie hier einen Text.</translation>
    </message>
    <message>
        <source>{n:plural(One entry is|{n:count} entries are)} of unknown key and {n:plural(names|name)} nobody.</source>
        <translation>Bei {n:plural(einem Eintrag|{n:count} Einträgen)} ist der Schlüssel unbekannt; {n:plural(er nennt|sie nennen)} niemanden.</translation>
    </message>
    <message>
        <source>Entry {number:count} was issued for this mark and revoked.</source>
        <translation>Eintrag {number:count} wurde für diese Markierung ausgegeben und widerrufen.</translation>
    </message>
    <message>
        <source>No entry has this payload under this key and profile. It may have been misread, issued elsewhere, or issued after the last import.</source>
        <translation>Kein Eintrag hat diese Nutzlast unter diesem Schlüssel und Profil. Sie kann verlesen, anderswo oder nach dem letzten Import ausgegeben worden sein.</translation>
    </message>
    <message>
        <source>{n:plural(One entry of unknown key was|{n:count} entries of unknown key were)} not compared.</source>
        <translation>{n:plural(Ein Eintrag mit unbekanntem Schlüssel wurde|{n:count} Einträge mit unbekanntem Schlüssel wurden)} nicht verglichen.</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
</context>
<context>
    <name>Keys</name>
    <message>
        <source>Keys</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Unlock …</source>
        <translation>Entsperren …</translation>
    </message>
    <message>
        <source>No keys yet. Create one or import one.</source>
        <translation>Noch keine Schlüssel. Legen Sie einen an oder importieren Sie einen.</translation>
    </message>
    <message>
        <source>New …</source>
        <translation>Neu …</translation>
    </message>
    <message>
        <source>Import …</source>
        <translation>Importieren …</translation>
    </message>
    <message>
        <source>Derive …</source>
        <translation>Ableiten …</translation>
    </message>
    <message>
        <source>Export …</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <source>Rename …</source>
        <translation>Umbenennen …</translation>
    </message>
    <message>
        <source>Note …</source>
        <translation>Notiz …</translation>
    </message>
    <message>
        <source>Delete …</source>
        <translation>Löschen …</translation>
    </message>
    <message>
        <source>Set up encrypted files …</source>
        <translation>Verschlüsselte Dateien einrichten …</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Fingerprint</source>
        <translation>Fingerabdruck</translation>
    </message>
    <message>
        <source>Created</source>
        <translation>Angelegt</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>Kept in</source>
        <translation>Aufbewahrt in</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Notiz</translation>
    </message>
    <message>
        <source>Whoever has this file and its passphrase can forge marks of {key:text} and read every one. Keep file and passphrase in different places.</source>
        <translation>Wer diese Datei und ihre Passphrase hat, kann Markierungen von {key:text} fälschen und jede lesen. Bewahren Sie Datei und Passphrase an verschiedenen Orten auf.</translation>
    </message>
    <message>
        <source>Export “{key:text}”, encrypted</source>
        <translation>»{key:text}« verschlüsselt exportieren</translation>
    </message>
    <message>
        <source>Choose the file …</source>
        <translation>Datei wählen …</translation>
    </message>
    <message>
        <source>Write the encrypted key</source>
        <translation>Verschlüsselten Schlüssel schreiben</translation>
    </message>
    <message>
        <source>Delete a key</source>
        <translation>Schlüssel löschen</translation>
    </message>
    <message>
        <source>Delete {key:text}?</source>
        <translation>{key:text} löschen?</translation>
    </message>
    <message>
        <source>Delete for good</source>
        <translation>Endgültig löschen</translation>
    </message>
    <message>
        <source>Keep it</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <source>Keys are kept in encrypted files under one passphrase, which is asked for once a session. Without it they are lost: nobody can reset it.</source>
        <translation>Schlüssel liegen in verschlüsselten Dateien unter einer Passphrase, nach der einmal je Sitzung gefragt wird. Ohne sie sind sie verloren: Niemand kann sie zurücksetzen.</translation>
    </message>
    <message>
        <source>Passphrase for encrypted key files</source>
        <translation>Passphrase für verschlüsselte Schlüsseldateien</translation>
    </message>
    <message>
        <source>Passphrase of the encrypted key files</source>
        <translation>Passphrase der verschlüsselten Schlüsseldateien</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>Einrichten</translation>
    </message>
    <message>
        <source>Unlock</source>
        <translation>Entsperren</translation>
    </message>
    <message>
        <source>Passphrase of {file:text}</source>
        <translation>Passphrase von {file:text}</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>The key of a day, a week or a month</source>
        <translation>Der Schlüssel eines Tages, einer Woche oder eines Monats</translation>
    </message>
    <message>
        <source>2026-11-22, 2026-W47 or 2026-11</source>
        <translation>2026-11-22, 2026-W47 oder 2026-11</translation>
    </message>
    <message>
        <source>64 hex digits or base64; not shown</source>
        <translation>64 Hexadezimalziffern oder Base64; wird nicht angezeigt</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Choose a file …</source>
        <translation>Datei wählen …</translation>
    </message>
    <message>
        <source>or file</source>
        <translation>oder Datei</translation>
    </message>
    <message>
        <source>In this computer’s keyring</source>
        <translation>Im Schlüsselbund dieses Rechners</translation>
    </message>
    <message>
        <source>In an encrypted file, under a passphrase</source>
        <translation>In einer verschlüsselten Datei unter einer Passphrase</translation>
    </message>
    <message>
        <source>For this session only; it is gone when the window closes</source>
        <translation>Nur für diese Sitzung; er verschwindet, wenn das Fenster schließt</translation>
    </message>
    <message>
        <source>File of the key</source>
        <translation>Datei des Schlüssels</translation>
    </message>
    <message>
        <source>Deployment</source>
        <translation>Einsatz</translation>
    </message>
    <message>
        <source>New key</source>
        <translation>Neuer Schlüssel</translation>
    </message>
    <message>
        <source>A fresh key from the randomness of this computer.</source>
        <translation>Ein neuer Schlüssel aus dem Zufall dieses Rechners.</translation>
    </message>
    <message>
        <source>Create</source>
        <translation>Anlegen</translation>
    </message>
    <message>
        <source>Import a key</source>
        <translation>Schlüssel importieren</translation>
    </message>
    <message>
        <source>In hex, in base64, or an encrypted key file of this program.</source>
        <translation>Hexadezimal, in Base64 oder als verschlüsselte Schlüsseldatei dieses Programms.</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>Importieren</translation>
    </message>
    <message>
        <source>Derive a key from “{key:text}”</source>
        <translation>Schlüssel aus »{key:text}« ableiten</translation>
    </message>
    <message>
        <source>The same master and the same label always give the same key. Whoever holds the derived key can work out neither the master nor another one.</source>
        <translation>Derselbe Hauptschlüssel und dieselbe Bezeichnung ergeben immer denselben Schlüssel. Wer den abgeleiteten Schlüssel hat, kann daraus weder den Hauptschlüssel noch einen anderen berechnen.</translation>
    </message>
    <message>
        <source>Derive</source>
        <translation>Ableiten</translation>
    </message>
    <message>
        <source>Rename “{key:text}”</source>
        <translation>»{key:text}« umbenennen</translation>
    </message>
    <message>
        <source>The fingerprint stays the same.</source>
        <translation>Der Fingerabdruck bleibt derselbe.</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Note on “{key:text}”</source>
        <translation>Notiz zu »{key:text}«</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Encrypted key files</source>
        <translation>Verschlüsselte Schlüsseldateien</translation>
    </message>
    <message>
        <source>No keyring</source>
        <translation>Kein Schlüsselbund</translation>
    </message>
    <message>
        <source>This computer’s keyring</source>
        <translation>Schlüsselbund dieses Rechners</translation>
    </message>
    <message>
        <source>This computer offers no keyring.</source>
        <translation>Dieser Rechner bietet keinen Schlüsselbund an.</translation>
    </message>
    <message>
        <source>Keep keys in encrypted files under a passphrase, or for this session only.</source>
        <translation>Bewahren Sie Schlüssel in verschlüsselten Dateien unter einer Passphrase auf oder nur für diese Sitzung.</translation>
    </message>
    <message>
        <source>Ready. New keys are kept in it.</source>
        <translation>Bereit. Neue Schlüssel werden darin aufbewahrt.</translation>
    </message>
    <message>
        <source>Locked: no key can be read or stored.</source>
        <translation>Gesperrt: Schlüssel können weder gelesen noch gespeichert werden.</translation>
    </message>
    <message>
        <source>Unlock it here, or log in to your desktop session again.</source>
        <translation>Entsperren Sie ihn hier oder melden Sie sich neu an Ihrem Rechner an.</translation>
    </message>
    <message>
        <source>It does not answer any more.</source>
        <translation>Er antwortet nicht mehr.</translation>
    </message>
    <message>
        <source>Log in to your desktop session again, which starts it anew.</source>
        <translation>Melden Sie sich neu an Ihrer Sitzung an, das startet ihn neu.</translation>
    </message>
    <message>
        <source>It refuses this program.</source>
        <translation>Er verweigert diesem Programm den Zugriff.</translation>
    </message>
    <message>
        <source>Allow this program to use it, or ask whoever manages this computer. Keys can be kept in encrypted files meanwhile.</source>
        <translation>Erlauben Sie diesem Programm den Zugriff oder fragen Sie, wer diesen Rechner verwaltet. Bis dahin können Schlüssel in verschlüsselten Dateien liegen.</translation>
    </message>
    <message>
        <source>Unlocked for this session. New keys are kept in them.</source>
        <translation>Für diese Sitzung entsperrt. Neue Schlüssel werden darin aufbewahrt.</translation>
    </message>
    <message>
        <source>Unlock them with their passphrase.</source>
        <translation>Entsperren Sie sie mit ihrer Passphrase.</translation>
    </message>
    <message>
        <source>The file that checks the passphrase is damaged.</source>
        <translation>Die Datei, die die Passphrase prüft, ist beschädigt.</translation>
    </message>
    <message>
        <source>Put the folder “keys” back from a backup.</source>
        <translation>Stellen Sie den Ordner »keys« aus einer Sicherung wieder her.</translation>
    </message>
    <message>
        <source>The folder cannot be read.</source>
        <translation>Der Ordner kann nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Check its permissions.</source>
        <translation>Prüfen Sie seine Zugriffsrechte.</translation>
    </message>
    <message>
        <source>Single</source>
        <translation>Einzeln</translation>
    </message>
    <message>
        <source>Master</source>
        <translation>Hauptschlüssel</translation>
    </message>
    <message>
        <source>Derived: {deployment:text}</source>
        <translation>Abgeleitet: {deployment:text}</translation>
    </message>
    <message>
        <source>This session only</source>
        <translation>Nur diese Sitzung</translation>
    </message>
    <message>
        <source>Encrypted file</source>
        <translation>Verschlüsselte Datei</translation>
    </message>
    <message>
        <source>Keyring</source>
        <translation>Schlüsselbund</translation>
    </message>
    <message>
        <source>Texts marked with it can no longer be examined on this computer.</source>
        <translation>Damit markierte Texte können auf diesem Rechner nicht mehr untersucht werden.</translation>
    </message>
    <message>
        <source>Profiles that belong to it: {names:text}.</source>
        <translation>Zugehörige Profile: {names:text}.</translation>
    </message>
    <message>
        <source>Payloads in the register that fit these profiles: {n:count}.</source>
        <translation>Nutzlasten im Register, die zu diesen Profilen passen: {n:count}.</translation>
    </message>
    <message>
        <source>Derived from it: {names:text}. They stay, but cannot be derived again.</source>
        <translation>Daraus abgeleitet: {names:text}. Sie bleiben, können aber nicht noch einmal abgeleitet werden.</translation>
    </message>
    <message>
        <source>Texts on the list that were audited with it: {n:count}.</source>
        <translation>Texte in der Liste, die damit untersucht wurden: {n:count}.</translation>
    </message>
    <message>
        <source>Recorded audits stay readable; they cannot be repeated.</source>
        <translation>Aufgezeichnete Untersuchungen bleiben lesbar; sie können nicht wiederholt werden.</translation>
    </message>
    <message>
        <source>Without an exported copy this cannot be undone.</source>
        <translation>Ohne eine exportierte Kopie lässt sich das nicht rückgängig machen.</translation>
    </message>
    <message>
        <source>It serves the deployment “{deployment:text}”. Whoever holds the master key {master:text} can derive it again.</source>
        <translation>Er dient dem Einsatz »{deployment:text}«. Wer den Hauptschlüssel {master:text} hat, kann ihn wieder ableiten.</translation>
    </message>
    <message>
        <source>and {n:count} more</source>
        <translation>und {n:count} weitere</translation>
    </message>
    <message>
        <source>{n:text} of at least {least:text} characters</source>
        <translation>{n:text} von mindestens {least:text} Zeichen</translation>
    </message>
    <message>
        <source>Long enough. Longer is better.</source>
        <translation>Lang genug. Länger ist besser.</translation>
    </message>
    <message>
        <source>Good length.</source>
        <translation>Gute Länge.</translation>
    </message>
    <message>
        <source>Passphrase</source>
        <translation>Passphrase</translation>
    </message>
    <message>
        <source>Once more</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <source>Show what I type</source>
        <translation>Eingabe anzeigen</translation>
    </message>
    <message>
        <source>The two are not the same yet.</source>
        <translation>Die beiden stimmen noch nicht überein.</translation>
    </message>
    <message>
        <source>The chosen key is kept in one. It is asked for once a session.</source>
        <translation>Der gewählte Schlüssel liegt in einer. Nach ihr wird einmal je Sitzung gefragt.</translation>
    </message>
    <message>
        <source>Unlock and audit</source>
        <translation>Entsperren und untersuchen</translation>
    </message>
</context>
<context>
    <name>LongRun</name>
    <message>
        <source>A long audit</source>
        <translation>Eine lange Untersuchung</translation>
    </message>
    <message>
        <source>It can be paused and cancelled at any time, and you can go on working meanwhile.</source>
        <translation>Sie lässt sich jederzeit anhalten und abbrechen, und Sie können währenddessen weiterarbeiten.</translation>
    </message>
    <message>
        <source>Audit the whole text</source>
        <translation>Den ganzen Text untersuchen</translation>
    </message>
    <message>
        <source>Audit all {n:count} texts</source>
        <translation>Alle {n:count} Texte untersuchen</translation>
    </message>
    <message>
        <source>An excerpt is how {n:plural(the text begins|each of the {n:count} long texts begins)}, about {k:count} characters. It is a text of its own: what is found holds for it, and what is not found says nothing of the rest.</source>
        <translation>Ein Auszug ist der Anfang {n:plural(des Textes|jedes der {n:count} langen Texte)}, etwa {k:count} Zeichen. Er ist ein eigener Text: Was gefunden wird, gilt für ihn; was nicht gefunden wird, sagt nichts über den Rest.</translation>
    </message>
    <message>
        <source>{n:plural(An excerpt|Excerpts)} first</source>
        <translation>Erst {n:plural(ein Auszug|Auszüge)}</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Jetzt nicht</translation>
    </message>
    <message>
        <source>{n:plural(This text is long|These texts are long)}: {k:count} characters. How long that takes was not measured on this computer yet.</source>
        <translation>{n:plural(Dieser Text ist lang|Diese Texte sind lang)}: {k:count} Zeichen. Wie lange das dauert, ist auf diesem Rechner noch nicht gemessen.</translation>
    </message>
    <message>
        <source>{n:plural(The audit of this text takes|The audits of {n:count} texts take)} about {time:text} on this computer, as fast as the last ones went.</source>
        <translation>{n:plural(Die Untersuchung dieses Textes dauert|Die Untersuchungen von {n:count} Texten dauern)} auf diesem Rechner etwa {time:text}, so schnell wie die letzten gingen.</translation>
    </message>
</context>
<context>
    <name>Mark</name>
    <message>
        <source>Mark a text</source>
        <translation>Text markieren</translation>
    </message>
    <message>
        <source>What the text goes on from</source>
        <translation>Was der Text fortsetzt</translation>
    </message>
    <message>
        <source>A name or a pseudonym</source>
        <translation>Ein Name oder ein Pseudonym</translation>
    </message>
    <message>
        <source>Not noted in the register</source>
        <translation>Wird nicht im Register vermerkt</translation>
    </message>
    <message>
        <source>A request, a reference, a purpose</source>
        <translation>Eine Anfrage, ein Aktenzeichen, ein Zweck</translation>
    </message>
    <message>
        <source>The marked text</source>
        <translation>Der markierte Text</translation>
    </message>
    <message>
        <source>The marked text stands here.</source>
        <translation>Hier steht der markierte Text.</translation>
    </message>
    <message>
        <source>Write the text</source>
        <translation>Text schreiben</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Save …</source>
        <translation>Speichern …</translation>
    </message>
    <message>
        <source>Put it into the list</source>
        <translation>In die Liste aufnehmen</translation>
    </message>
    <message>
        <source>Mark a text with the set-up “{name:text}”</source>
        <translation>Text mit der Einrichtung »{name:text}« markieren</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Payload {payload:text} was issued to “{who:text}” (entry {entry:count}).</source>
        <translation>Nutzlast {payload:text} wurde an »{who:text}« ausgegeben (Eintrag {entry:count}).</translation>
    </message>
    <message>
        <source>To whom, for the register</source>
        <translation>An wen, für das Register</translation>
    </message>
    <message>
        <source>For what, for the register</source>
        <translation>Wofür, für das Register</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Length in tokens</source>
        <translation>Länge in Token</translation>
    </message>
    <message>
        <source>The built-in model is for trials: its texts are simple and often wrong. Texts for others are marked where they are written: in the engine that serves your model.</source>
        <translation>Das eingebaute Modell ist zum Ausprobieren da: Seine Texte sind einfach und oft falsch. Texte für andere werden dort markiert, wo sie entstehen: in der Anlage, die Ihr Modell betreibt.</translation>
    </message>
    <message>
        <source>A text of this length carries about {n:count} of the {all:count} payload bits: it cannot be read whole. Take more tokens.</source>
        <translation>Ein Text dieser Länge trägt etwa {n:count} der {all:count} Bits der Nutzlast: Sie lässt sich nicht ganz lesen. Nehmen Sie mehr Token.</translation>
    </message>
    <message>
        <source>{n:count} of {all:count} tokens</source>
        <translation>{n:count} von {all:count} Token</translation>
    </message>
    <message>
        <source>{n:plural(One token|{n:count} tokens)} written and marked.</source>
        <translation>{n:plural(Ein Token|{n:count} Token)} geschrieben und markiert.</translation>
    </message>
    <message>
        <source>Copied.</source>
        <translation>Kopiert.</translation>
    </message>
    <message>
        <source>The text is in the list.</source>
        <translation>Der Text ist in der Liste.</translation>
    </message>
    <message>
        <source>Save the marked text</source>
        <translation>Markierten Text speichern</translation>
    </message>
    <message>
        <source>Texts (*.txt)</source>
        <translation>Texte (*.txt)</translation>
    </message>
    <message>
        <source>Saved: {file:text}</source>
        <translation>Gespeichert: {file:text}</translation>
    </message>
    <message>
        <source>Marked text</source>
        <translation>Markierter Text</translation>
    </message>
</context>
<context>
    <name>Marks</name>
    <message>
        <source>L {ratio:text}</source>
        <translation>L {ratio:text}</translation>
    </message>
    <message>
        <source>Mark {n:text}, {payload:text}: {facts:text}</source>
        <translation>Markierung {n:text}, {payload:text}: {facts:text}</translation>
    </message>
    <message>
        <source>Show its bits, and where it begins</source>
        <translation>Ihre Bits zeigen, und wo sie beginnt</translation>
    </message>
    <message>
        <source>key {key:text}</source>
        <translation>Schlüssel {key:text}</translation>
    </message>
</context>
<context>
    <name>Menu</name>
    <message>
        <source>Menu</source>
        <translation>Menü</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>Open …</source>
        <translation>Öffnen …</translation>
    </message>
    <message>
        <source>How this file is read …</source>
        <translation>Wie diese Datei gelesen wird …</translation>
    </message>
    <message>
        <source>Open a folder …</source>
        <translation>Ordner öffnen …</translation>
    </message>
    <message>
        <source>What was left out …</source>
        <translation>Was ausgelassen wurde …</translation>
    </message>
    <message>
        <source>Try the sample</source>
        <translation>Beispiel ausprobieren</translation>
    </message>
    <message>
        <source>Cases</source>
        <translation>Fälle</translation>
    </message>
    <message>
        <source>Reports</source>
        <translation>Berichte</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>Einrichten</translation>
    </message>
    <message>
        <source>Save to a case …</source>
        <translation>In einem Fall sichern …</translation>
    </message>
    <message>
        <source>Cases …</source>
        <translation>Fälle …</translation>
    </message>
    <message>
        <source>Compare with earlier examinations …</source>
        <translation>Mit früheren Untersuchungen vergleichen …</translation>
    </message>
    <message>
        <source>Two texts side by side …</source>
        <translation>Zwei Texte nebeneinander …</translation>
    </message>
    <message>
        <source>Issue</source>
        <translation>Ausgeben</translation>
    </message>
    <message>
        <source>Issued payloads</source>
        <translation>Ausgegebene Nutzlasten</translation>
    </message>
    <message>
        <source>Who got this payload?</source>
        <translation>Wer hat diese Nutzlast bekommen?</translation>
    </message>
    <message>
        <source>Import issued payloads …</source>
        <translation>Ausgegebene Nutzlasten importieren …</translation>
    </message>
    <message>
        <source>Mark a text …</source>
        <translation>Text markieren …</translation>
    </message>
    <message>
        <source>Report …</source>
        <translation>Bericht …</translation>
    </message>
    <message>
        <source>Sign a report …</source>
        <translation>Bericht signieren …</translation>
    </message>
    <message>
        <source>Verify a report …</source>
        <translation>Bericht nachprüfen …</translation>
    </message>
    <message>
        <source>Statement of a detector …</source>
        <translation>Aussage eines Detektors …</translation>
    </message>
    <message>
        <source>Take in a team bundle …</source>
        <translation>Teampaket übernehmen …</translation>
    </message>
    <message>
        <source>Make a team bundle …</source>
        <translation>Teampaket machen …</translation>
    </message>
    <message>
        <source>Keys …</source>
        <translation>Schlüssel …</translation>
    </message>
    <message>
        <source>Models …</source>
        <translation>Modelle …</translation>
    </message>
    <message>
        <source>Set up ours …</source>
        <translation>Eigene einrichten …</translation>
    </message>
    <message>
        <source>Profiles …</source>
        <translation>Profile …</translation>
    </message>
    <message>
        <source>Settings …</source>
        <translation>Einstellungen …</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>Bearbeiten</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Wiederherstellen</translation>
    </message>
    <message>
        <source>Paste a text</source>
        <translation>Text einfügen</translation>
    </message>
    <message>
        <source>Find in the text …</source>
        <translation>Im Text suchen …</translation>
    </message>
    <message>
        <source>Remove the text from the list</source>
        <translation>Text aus der Liste entfernen</translation>
    </message>
    <message>
        <source>Audit</source>
        <translation>Untersuchen</translation>
    </message>
    <message>
        <source>Audit this text again</source>
        <translation>Diesen Text noch einmal untersuchen</translation>
    </message>
    <message>
        <source>Pause or go on</source>
        <translation>Anhalten oder fortsetzen</translation>
    </message>
    <message>
        <source>Compare two audits …</source>
        <translation>Zwei Untersuchungen vergleichen …</translation>
    </message>
    <message>
        <source>Next token that carries bits</source>
        <translation>Nächstes Token, das Bits trägt</translation>
    </message>
    <message>
        <source>Previous token that carries bits</source>
        <translation>Voriges Token, das Bits trägt</translation>
    </message>
    <message>
        <source>View</source>
        <translation>Ansicht</translation>
    </message>
    <message>
        <source>Find everything …</source>
        <translation>Alles finden …</translation>
    </message>
    <message>
        <source>Cancel all audits</source>
        <translation>Alle Untersuchungen abbrechen</translation>
    </message>
    <message>
        <source>Next mark or passage</source>
        <translation>Nächste Markierung oder Stelle</translation>
    </message>
    <message>
        <source>Previous mark or passage</source>
        <translation>Vorige Markierung oder Stelle</translation>
    </message>
    <message>
        <source>Fold the list of texts</source>
        <translation>Textliste einklappen</translation>
    </message>
    <message>
        <source>All texts as a table</source>
        <translation>Alle Texte als Tabelle</translation>
    </message>
    <message>
        <source>Show or hide the evidence</source>
        <translation>Anhaltspunkte ein- oder ausblenden</translation>
    </message>
    <message>
        <source>Larger text</source>
        <translation>Größerer Text</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <translation>Kleinerer Text</translation>
    </message>
    <message>
        <source>Usual text size</source>
        <translation>Übliche Textgröße</translation>
    </message>
    <message>
        <source>Colours of the system</source>
        <translation>Farben des Systems</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>High contrast</source>
        <translation>Hoher Kontrast</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <source>Cancel the audit on screen, or show what is audited</source>
        <translation>Die gezeigte Untersuchung abbrechen, oder die laufende zeigen</translation>
    </message>
    <message>
        <source>User guide</source>
        <translation>Benutzerhandbuch</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Show the log file</source>
        <translation>Protokolldatei zeigen</translation>
    </message>
    <message>
        <source>Save a diagnostic file …</source>
        <translation>Diagnosedatei speichern …</translation>
    </message>
    <message>
        <source>About PURA Audit</source>
        <translation>Über PURA Audit</translation>
    </message>
    <message>
        <source>Recent files</source>
        <translation>Zuletzt geöffnet</translation>
    </message>
    <message>
        <source>No recent files</source>
        <translation>Keine zuletzt geöffneten Dateien</translation>
    </message>
    <message>
        <source>Recent files are not remembered</source>
        <translation>Zuletzt geöffnete Dateien werden nicht gemerkt</translation>
    </message>
    <message>
        <source>Clear the list</source>
        <translation>Liste leeren</translation>
    </message>
    <message>
        <source>Remember recent files</source>
        <translation>Zuletzt geöffnete Dateien merken</translation>
    </message>
    <message>
        <source>Save a diagnostic file</source>
        <translation>Diagnosedatei speichern</translation>
    </message>
    <message>
        <source>Texts (*.txt)</source>
        <translation>Texte (*.txt)</translation>
    </message>
    <message>
        <source>Saved as “{file:text}”. It holds versions and the log, and nothing of a text, a payload or a key.</source>
        <translation>Gespeichert als »{file:text}«. Die Datei enthält Versionen und das Protokoll, aber nichts von Texten, Nutzlasten oder Schlüsseln.</translation>
    </message>
</context>
<context>
    <name>Models</name>
    <message>
        <source>The model “{model:text}” is installed.</source>
        <translation>Das Modell »{model:text}« ist installiert.</translation>
    </message>
    <message>
        <source>The model “{model:text}” was removed.</source>
        <translation>Das Modell »{model:text}« wurde entfernt.</translation>
    </message>
    <message>
        <source>Copy folders into the store</source>
        <translation>Ordner in den Bestand kopieren</translation>
    </message>
    <message>
        <source>Otherwise the store points at the folder, which must stay where it is. A GGUF file is always expanded into the store.</source>
        <translation>Sonst verweist der Bestand auf den Ordner, der dann bleiben muss, wo er ist. Eine GGUF-Datei wird immer in den Bestand entpackt.</translation>
    </message>
    <message>
        <source>such as Apache-2.0; may stay empty</source>
        <translation>etwa Apache-2.0; darf leer bleiben</translation>
    </message>
    <message>
        <source>It is shown in the list of models. The program neither finds it out by itself nor checks it.</source>
        <translation>Sie wird in der Liste der Modelle gezeigt. Das Programm ermittelt sie nicht selbst und prüft sie nicht.</translation>
    </message>
    <message>
        <source>Licence of a model to add</source>
        <translation>Lizenz eines neuen Modells</translation>
    </message>
    <message>
        <source>A model reads the texts on this computer. It must have the tokenizer of the generating model; the generating model itself reads best.</source>
        <translation>Ein Modell liest die Texte auf diesem Rechner. Es muss den Tokenizer des erzeugenden Modells haben; am besten liest das erzeugende Modell selbst.</translation>
    </message>
    <message>
        <source>No models yet. Install the built-in one, or add one of yours.</source>
        <translation>Noch keine Modelle. Installieren Sie das mitgelieferte oder fügen Sie ein eigenes hinzu.</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Install the built-in one</source>
        <translation>Mitgeliefertes installieren</translation>
    </message>
    <message>
        <source>Add a folder …</source>
        <translation>Ordner hinzufügen …</translation>
    </message>
    <message>
        <source>Add a GGUF file …</source>
        <translation>GGUF-Datei hinzufügen …</translation>
    </message>
    <message>
        <source>Verify</source>
        <translation>Nachprüfen</translation>
    </message>
    <message>
        <source>Fitness …</source>
        <translation>Eignung …</translation>
    </message>
    <message>
        <source>How much is found …</source>
        <translation>Wie viel wird gefunden …</translation>
    </message>
    <message>
        <source>Remove …</source>
        <translation>Entfernen …</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Architecture</source>
        <translation>Architektur</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>Tokenizer</source>
        <translation>Tokenizer</translation>
    </message>
    <message>
        <source>Fits here</source>
        <translation>Passt hier</translation>
    </message>
    <message>
        <source>&amp;Licence of a model to add:</source>
        <translation>&amp;Lizenz eines neuen Modells:</translation>
    </message>
    <message>
        <source>Add a model</source>
        <translation>Modell hinzufügen</translation>
    </message>
    <message>
        <source>GGUF files (*.gguf)</source>
        <translation>GGUF-Dateien (*.gguf)</translation>
    </message>
    <message>
        <source>Its folder lies outside the store and stays where it is.</source>
        <translation>Sein Ordner liegt außerhalb des Bestands und bleibt, wo er ist.</translation>
    </message>
    <message>
        <source>Its files are deleted: {size:text}.</source>
        <translation>Seine Dateien werden gelöscht: {size:text}.</translation>
    </message>
    <message>
        <source>Remove a model</source>
        <translation>Modell entfernen</translation>
    </message>
    <message>
        <source>Remove “{model:text}”?</source>
        <translation>»{model:text}« entfernen?</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>“{model:text}” is what was installed: {n:plural(its file is|all {n:count} files are)} unchanged.</source>
        <translation>»{model:text}« ist, was installiert wurde: {n:plural(Seine Datei ist|Alle {n:count} Dateien sind)} unverändert.</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>ja</translation>
    </message>
    <message>
        <source>no</source>
        <translation>nein</translation>
    </message>
    <message>
        <source>{number:text} M</source>
        <translation>{number:text} Mio</translation>
    </message>
    <message>
        <source>in the store</source>
        <translation>im Bestand</translation>
    </message>
    <message>
        <source>{source:text} · stored as {format:text} · {n:count} tokens · lies {place:text}</source>
        <translation>{source:text} · gespeichert als {format:text} · {n:count} Token · liegt {place:text}</translation>
    </message>
    <message>
        <source>Fingerprint {model:text}, tokenizer {tokenizer:text}</source>
        <translation>Fingerabdruck {model:text}, Tokenizer {tokenizer:text}</translation>
    </message>
    <message>
        <source>Its file packs the weights to a few bits; they are read unpacked, in full.</source>
        <translation>Ihre Datei packt die Gewichte auf wenige Bits; gelesen werden sie ausgepackt, in voller Breite.</translation>
    </message>
</context>
<context>
    <name>Notice</name>
    <message>
        <source>The audits are done.</source>
        <translation>Die Untersuchungen sind fertig.</translation>
    </message>
</context>
<context>
    <name>Pages</name>
    <message>
        <source>No pages yet</source>
        <translation>Noch keine Seiten</translation>
    </message>
    <message>
        <source>Page {page:count} of {pages:count}</source>
        <translation>Seite {page:count} von {pages:count}</translation>
    </message>
    <message>
        <source>This page is broken and cannot be shown.</source>
        <translation>Diese Seite ist beschädigt und lässt sich nicht zeigen.</translation>
    </message>
    <message>
        <source>Pages of the document</source>
        <translation>Seiten des Dokuments</translation>
    </message>
    <message>
        <source>All pages, in small</source>
        <translation>Alle Seiten im Kleinen</translation>
    </message>
    <message>
        <source>Choose the &amp;file …</source>
        <translation>&amp;Datei wählen …</translation>
    </message>
    <message>
        <source>The file of this finding is not known here.</source>
        <translation>Die Datei zu diesem Befund ist hier nicht bekannt.</translation>
    </message>
    <message>
        <source>The file that was examined</source>
        <translation>Die untersuchte Datei</translation>
    </message>
    <message>
        <source>Where the words stand is not known: nothing is shaded.</source>
        <translation>Wo die Wörter stehen, ist nicht bekannt: nichts ist schattiert.</translation>
    </message>
    <message>
        <source>Finding where the words stand …</source>
        <translation>Die Stellen der Wörter werden gesucht …</translation>
    </message>
</context>
<context>
    <name>Palette</name>
    <message>
        <source>Find everything</source>
        <translation>Alles finden</translation>
    </message>
    <message>
        <source>Found</source>
        <translation>Gefunden</translation>
    </message>
    <message>
        <source>A command, a text, a case, a setting, a page of the guide</source>
        <translation>Ein Befehl, ein Text, ein Fall, eine Einstellung, eine Seite des Handbuchs</translation>
    </message>
    <message>
        <source>↑ ↓ choose · Return opens or does it · Esc closes</source>
        <translation>↑ ↓ wählen · Eingabe öffnet oder tut es · Esc schließt</translation>
    </message>
    <message>
        <source>Case</source>
        <translation>Fall</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Setting</source>
        <translation>Einstellung</translation>
    </message>
    <message>
        <source>Guide</source>
        <translation>Handbuch</translation>
    </message>
</context>
<context>
    <name>Payload</name>
    <message>
        <source>Payload, in hex or as bits</source>
        <translation>Nutzlast, hexadezimal oder als Bits</translation>
    </message>
</context>
<context>
    <name>Plot</name>
    <message>
        <source>Table, copy and export of “{title:text}”</source>
        <translation>Tabelle, Kopie und Export von »{title:text}«</translation>
    </message>
    <message>
        <source>Appears here after the audit.</source>
        <translation>Erscheint hier nach der Untersuchung.</translation>
    </message>
    <message>
        <source>The text was not examined: there is nothing to show.</source>
        <translation>Der Text wurde nicht untersucht: Es gibt nichts zu zeigen.</translation>
    </message>
    <message>
        <source>Show as table</source>
        <translation>Als Tabelle zeigen</translation>
    </message>
    <message>
        <source>Copy picture</source>
        <translation>Bild kopieren</translation>
    </message>
    <message>
        <source>Copy table</source>
        <translation>Tabelle kopieren</translation>
    </message>
    <message>
        <source>Copy summary in words</source>
        <translation>Zusammenfassung in Worten kopieren</translation>
    </message>
    <message>
        <source>Export …</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Not exported: {reason:text}</source>
        <translation>Nicht exportiert: {reason:text}</translation>
    </message>
    <message>
        <source>Exported: {file:text}</source>
        <translation>Exportiert: {file:text}</translation>
    </message>
</context>
<context>
    <name>Power</name>
    <message>
        <source>How much is found</source>
        <translation>Wie viel gefunden wird</translation>
    </message>
    <message>
        <source>the same</source>
        <translation>dasselbe</translation>
    </message>
    <message>
        <source>Use a file with a prompt a line …</source>
        <translation>Datei mit einem Prompt je Zeile verwenden …</translation>
    </message>
    <message>
        <source>Put the prompts into the model’s chat template</source>
        <translation>Die Prompts in die Chat-Vorlage des Modells setzen</translation>
    </message>
    <message>
        <source>How long?</source>
        <translation>Wie lange?</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>Messen</translation>
    </message>
    <message>
        <source>Let the policy rely on it</source>
        <translation>Die Richtlinie darauf stützen</translation>
    </message>
    <message>
        <source>Shares found</source>
        <translation>Gefundene Anteile</translation>
    </message>
    <message>
        <source>Measure how much is found</source>
        <translation>Messen, wie viel gefunden wird</translation>
    </message>
    <message>
        <source>none; such as substitute:0.1, delete:0.1</source>
        <translation>keine; etwa substitute:0.1, delete:0.1</translation>
    </message>
    <message>
        <source>none: the shipped table weighs</source>
        <translation>keine: die mitgelieferte Tabelle gilt</translation>
    </message>
    <message>
        <source>How often are texts of “{model:text}” found?</source>
        <translation>Wie oft werden Texte von »{model:text}« gefunden?</translation>
    </message>
    <message>
        <source>The model writes marked texts, each with a key of its own, and they are read as an audit reads. What is measured here may be said of your texts where no mark is found. It can be stopped and goes on where it was.</source>
        <translation>Das Modell schreibt markierte Texte, jeden mit einem eigenen Schlüssel, und sie werden gelesen wie bei einer Untersuchung. Was hier gemessen wird, darf von Ihren Texten gesagt werden, wenn keine Markierung gefunden wird. Die Messung lässt sich abbrechen und geht dort weiter, wo sie war.</translation>
    </message>
    <message>
        <source>Name of the table</source>
        <translation>Name der Tabelle</translation>
    </message>
    <message>
        <source>Profile</source>
        <translation>Profil</translation>
    </message>
    <message>
        <source>Reading model</source>
        <translation>Lesendes Modell</translation>
    </message>
    <message>
        <source>Texts to write</source>
        <translation>Texte, die geschrieben werden</translation>
    </message>
    <message>
        <source>Tokens of each</source>
        <translation>Token je Text</translation>
    </message>
    <message>
        <source>More texts, to learn a likelihood table</source>
        <translation>Weitere Texte, um eine Likelihood-Tabelle zu lernen</translation>
    </message>
    <message>
        <source>Passages of so many tokens</source>
        <translation>Passagen von so vielen Token</translation>
    </message>
    <message>
        <source>Inside texts of so many tokens</source>
        <translation>In Texten von so vielen Token</translation>
    </message>
    <message>
        <source>Edits, measured too</source>
        <translation>Bearbeitungen, ebenfalls gemessen</translation>
    </message>
    <message>
        <source>Prompts</source>
        <translation>Prompts</translation>
    </message>
    <message>
        <source>Text files (*.txt)</source>
        <translation>Textdateien (*.txt)</translation>
    </message>
    <message>
        <source>Prompts of “{file:text}” (change …)</source>
        <translation>Prompts aus »{file:text}« (ändern …)</translation>
    </message>
    <message>
        <source>The lengths are whole numbers with commas between them.</source>
        <translation>Die Längen sind ganze Zahlen mit Kommas dazwischen.</translation>
    </message>
    <message>
        <source>About {time:text} on this computer, from a short trial.</source>
        <translation>Etwa {time:text} auf diesem Rechner, nach einer kurzen Probe.</translation>
    </message>
    <message>
        <source>Writing the texts</source>
        <translation>Texte schreiben</translation>
    </message>
    <message>
        <source>Reading them</source>
        <translation>Texte lesen</translation>
    </message>
    <message>
        <source>Reading them inside longer texts</source>
        <translation>In längeren Texten lesen</translation>
    </message>
    <message>
        <source>Weighing the evidence</source>
        <translation>Anhaltspunkte abwägen</translation>
    </message>
    <message>
        <source>{step:text}: {n:count} of {all:count} tokens</source>
        <translation>{step:text}: {n:count} von {all:count} Token</translation>
    </message>
    <message>
        <source>{step:text}: {n:count} of {all:count} texts</source>
        <translation>{step:text}: {n:count} von {all:count} Texten</translation>
    </message>
    <message>
        <source>{progress:text}, {time:text} left</source>
        <translation>{progress:text}, noch {time:text}</translation>
    </message>
    <message>
        <source>Table “{name:text}” ({table:text}) is stored; {n:count} texts were counted.</source>
        <translation>Die Tabelle »{name:text}« ({table:text}) ist gespeichert; gezählt wurden {n:count} Texte.</translation>
    </message>
    <message>
        <source>Marked texts</source>
        <translation>Markierte Texte</translation>
    </message>
    <message>
        <source>How often marked texts of your own kind are found. Where a text shows no mark, the tables that the policy relies on say how often one would have been found, before those that ship with the program.</source>
        <translation>Wie oft markierte Texte Ihrer eigenen Art gefunden werden. Wo ein Text keine Markierung zeigt, sagen die Tabellen, auf die sich die Richtlinie stützt, wie oft eine gefunden worden wäre; sie gehen denen vor, die mit dem Programm kommen.</translation>
    </message>
    <message>
        <source>No tables yet. Measure one, or add one that was measured on another computer.</source>
        <translation>Noch keine Tabellen. Messen Sie eine, oder fügen Sie eine hinzu, die auf einem anderen Rechner gemessen wurde.</translation>
    </message>
    <message>
        <source>Measure …</source>
        <translation>Messen …</translation>
    </message>
    <message>
        <source>Add a file …</source>
        <translation>Datei hinzufügen …</translation>
    </message>
    <message>
        <source>Sign …</source>
        <translation>Signieren …</translation>
    </message>
    <message>
        <source>Export …</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <source>Remove …</source>
        <translation>Entfernen …</translation>
    </message>
    <message>
        <source>No longer rely on it</source>
        <translation>Nicht mehr darauf stützen</translation>
    </message>
    <message>
        <source>{n:count} % found from</source>
        <translation>{n:count} % gefunden ab</translation>
    </message>
    <message>
        <source>At most shown</source>
        <translation>Höchstens belegt</translation>
    </message>
    <message>
        <source>Texts</source>
        <translation>Texte</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Measured</source>
        <translation>Gemessen am</translation>
    </message>
    <message>
        <source>Writing model</source>
        <translation>Schreibendes Modell</translation>
    </message>
    <message>
        <source>Signed as</source>
        <translation>Signiert als</translation>
    </message>
    <message>
        <source>Policy</source>
        <translation>Richtlinie</translation>
    </message>
    <message>
        <source>Add a table</source>
        <translation>Eine Tabelle hinzufügen</translation>
    </message>
    <message>
        <source>Measured tables ({files:text})</source>
        <translation>Gemessene Tabellen ({files:text})</translation>
    </message>
    <message>
        <source>Choose a certificate</source>
        <translation>Zertifikat wählen</translation>
    </message>
    <message>
        <source>Certificates ({files:text})</source>
        <translation>Zertifikate ({files:text})</translation>
    </message>
    <message>
        <source>The table is signed with “{file:text}”. Whoever gets the table can check that it is yours and unchanged.</source>
        <translation>Die Tabelle wird mit »{file:text}« signiert. Wer sie erhält, kann prüfen, dass sie von Ihnen stammt und unverändert ist.</translation>
    </message>
    <message>
        <source>Sign the table</source>
        <translation>Die Tabelle signieren</translation>
    </message>
    <message>
        <source>Sign</source>
        <translation>Signieren</translation>
    </message>
    <message>
        <source>Export the table</source>
        <translation>Die Tabelle ausgeben</translation>
    </message>
    <message>
        <source>Remove a table</source>
        <translation>Eine Tabelle entfernen</translation>
    </message>
    <message>
        <source>Remove “{table:text}”?</source>
        <translation>»{table:text}« entfernen?</translation>
    </message>
    <message>
        <source>It can be measured again, or added again from a file.</source>
        <translation>Sie lässt sich neu messen oder aus einer Datei wieder hinzufügen.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>ja</translation>
    </message>
    <message>
        <source>Read by “{reader:text}”. Kind of text: {kinds:text}.</source>
        <translation>Gelesen von »{reader:text}«. Art der Texte: {kinds:text}.</translation>
    </message>
    <message>
        <source>It brings a likelihood table that was learnt.</source>
        <translation>Sie bringt eine gelernte Likelihood-Tabelle mit.</translation>
    </message>
    <message>
        <source>The shipped likelihood table weighed the texts.</source>
        <translation>Gewogen wurde mit der mitgelieferten Likelihood-Tabelle.</translation>
    </message>
    <message>
        <source>Fingerprint {table:text}</source>
        <translation>Fingerabdruck {table:text}</translation>
    </message>
    <message>
        <source>not told apart</source>
        <translation>nicht unterschieden</translation>
    </message>
    <message>
        <source>edited ({edit:text})</source>
        <translation>bearbeitet ({edit:text})</translation>
    </message>
    <message>
        <source>passages in up to {n:count} positions</source>
        <translation>Passagen in bis zu {n:count} Stellen</translation>
    </message>
    <message>
        <source>whole texts</source>
        <translation>ganze Texte</translation>
    </message>
    <message>
        <source>{n:count} positions</source>
        <translation>{n:count} Stellen</translation>
    </message>
    <message>
        <source>not shown</source>
        <translation>nicht belegt</translation>
    </message>
    <message>
        <source>The table “{table:text}” was added.</source>
        <translation>Die Tabelle »{table:text}« wurde hinzugefügt.</translation>
    </message>
    <message>
        <source>The table “{table:text}” is signed as {who:text}.</source>
        <translation>Die Tabelle »{table:text}« ist als {who:text} signiert.</translation>
    </message>
    <message>
        <source>The table was written to “{file:text}”.</source>
        <translation>Die Tabelle wurde in »{file:text}« geschrieben.</translation>
    </message>
    <message>
        <source>The table was removed.</source>
        <translation>Die Tabelle wurde entfernt.</translation>
    </message>
    <message>
        <source>The policy is now {rule:text} and relies on {n:plural(one table|{n:count} tables)}.</source>
        <translation>Die Richtlinie heißt nun {rule:text} und stützt sich auf {n:plural(eine Tabelle|{n:count} Tabellen)}.</translation>
    </message>
</context>
<context>
    <name>ProfileEditor</name>
    <message>
        <source>Edit a profile</source>
        <translation>Profil bearbeiten</translation>
    </message>
    <message>
        <source>New profile</source>
        <translation>Neues Profil</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>one key for all time</source>
        <translation>ein Schlüssel für immer</translation>
    </message>
    <message>
        <source>a key for each day</source>
        <translation>ein Schlüssel für jeden Tag</translation>
    </message>
    <message>
        <source>a key for each week</source>
        <translation>ein Schlüssel für jede Woche</translation>
    </message>
    <message>
        <source>a key for each month</source>
        <translation>ein Schlüssel für jeden Monat</translation>
    </message>
    <message>
        <source>as it is</source>
        <translation>wie es ist</translation>
    </message>
    <message>
        <source>none named</source>
        <translation>keines genannt</translation>
    </message>
    <message>
        <source>Fields of the payload</source>
        <translation>Felder der Nutzlast</translation>
    </message>
    <message>
        <source>What a payload stands for. A number that is drawn for each answer and used once means nothing by itself: the register names the recipient. A recipient in the payload needs no register, but texts in that name can be forged from collected answers, and the text carries personal data.</source>
        <translation>Wofür eine Nutzlast steht. Eine Nummer, die für jede Antwort gezogen und einmal verwendet wird, bedeutet für sich nichts: Das Register nennt den Empfänger. Ein Empfänger in der Nutzlast braucht kein Register, doch aus gesammelten Antworten lassen sich Texte auf seinen Namen fälschen, und der Text enthält personenbezogene Daten.</translation>
    </message>
    <message>
        <source>Fingerprint {profile:text}</source>
        <translation>Fingerabdruck {profile:text}</translation>
    </message>
    <message>
        <source>This is another profile than before: texts that were marked with the old one cannot be read with it. Give it a new name to keep both.</source>
        <translation>Das ist ein anderes Profil als zuvor: Texte, die mit dem alten markiert wurden, lassen sich damit nicht lesen. Geben Sie ihm einen neuen Namen, um beide zu behalten.</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Notiz</translation>
    </message>
    <message>
        <source>Payload bits</source>
        <translation>Bits der Nutzlast</translation>
    </message>
    <message>
        <source>Payload stands for</source>
        <translation>Die Nutzlast steht für</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <source>Parity blocks</source>
        <translation>Paritätsblöcke</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <source>Context window, tokens</source>
        <translation>Kontextfenster, Token</translation>
    </message>
    <message>
        <source>Entropy thresholds, bits</source>
        <translation>Entropieschwellen, Bits</translation>
    </message>
    <message>
        <source>History</source>
        <translation>Verlauf</translation>
    </message>
    <message>
        <source>Before the text</source>
        <translation>Vor dem Text</translation>
    </message>
    <message>
        <source>Chat template</source>
        <translation>Chat-Vorlage</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>Systemprompt</translation>
    </message>
    <message>
        <source>Model and tokenizer</source>
        <translation>Modell und Tokenizer</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Keys over time</source>
        <translation>Schlüssel im Lauf der Zeit</translation>
    </message>
    <message>
        <source>Field</source>
        <translation>Feld</translation>
    </message>
    <message>
        <source>Bits</source>
        <translation>Bits</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Weiteres</translation>
    </message>
    <message>
        <source>At most</source>
        <translation>Höchstens</translation>
    </message>
    <message>
        <source>Add a field</source>
        <translation>Feld hinzufügen</translation>
    </message>
    <message>
        <source>Remove the last field</source>
        <translation>Letztes Feld entfernen</translation>
    </message>
    <message>
        <source>Field {n:text}</source>
        <translation>Feld {n:text}</translation>
    </message>
    <message>
        <source>How people call the profile. It changes nothing.</source>
        <translation>Wie man das Profil nennt. Es ändert nichts.</translation>
    </message>
    <message>
        <source>For people: who uses it, and what for.</source>
        <translation>Für Menschen: wer es wofür benutzt.</translation>
    </message>
    <message>
        <source>How much a mark tells: each bit doubles the number of recipients that can be told apart, and takes a little more text.</source>
        <translation>Wie viel eine Markierung sagt: Jedes Bit verdoppelt die Zahl unterscheidbarer Empfänger und braucht etwas mehr Text.</translation>
    </message>
    <message>
        <source>How many tokens before a position decide its place in the schedule. Each edited word disturbs so many positions after it.</source>
        <translation>Wie viele Token vor einer Stelle über ihren Platz im Plan entscheiden. Jedes bearbeitete Wort stört so viele Stellen danach.</translation>
    </message>
    <message>
        <source>From how many bits of entropy on a token carries one, two or three bits of the codeword. Below the first it carries none.</source>
        <translation>Ab wie vielen Bits Entropie ein Token ein, zwei oder drei Bits des Codeworts trägt. Unter der ersten Schwelle trägt es keines.</translation>
    </message>
    <message>
        <source>convolutional</source>
        <translation>Faltungscode</translation>
    </message>
    <message>
        <source>parity blocks (the paper&apos;s)</source>
        <translation>Paritätsblöcke (wie im Aufsatz)</translation>
    </message>
    <message>
        <source>contexts that have carried bits</source>
        <translation>Kontexte, die Bits getragen haben</translation>
    </message>
    <message>
        <source>all contexts of the text</source>
        <translation>alle Kontexte des Textes</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>the start token of the tokenizer</source>
        <translation>das Starttoken des Tokenizers</translation>
    </message>
    <message>
        <source>not stated</source>
        <translation>nicht festgelegt</translation>
    </message>
    <message>
        <source>one number for each answer</source>
        <translation>eine Nummer je Antwort</translation>
    </message>
    <message>
        <source>the recipient, in the payload</source>
        <translation>den Empfänger, in der Nutzlast</translation>
    </message>
    <message>
        <source>Each answer carries a number of its own, drawn at random; the register names the recipient.</source>
        <translation>Jede Antwort trägt eine eigene, zufällig gezogene Nummer; das Register nennt den Empfänger.</translation>
    </message>
    <message>
        <source>The payload names the recipient: texts in that name can be forged from collected answers, and the text carries personal data.</source>
        <translation>Die Nutzlast nennt den Empfänger: Aus gesammelten Antworten lassen sich Texte auf diesen Namen fälschen, und der Text enthält personenbezogene Daten.</translation>
    </message>
    <message>
        <source>The profile does not state how payloads are used, so they count as used more than once.</source>
        <translation>Das Profil legt nicht fest, wie Nutzlasten verwendet werden; sie gelten daher als mehrfach verwendet.</translation>
    </message>
    <message>
        <source>How the payload is protected against lost positions. The convolutional code reads edited texts better; the paper&apos;s has blocks with one parity bit each.</source>
        <translation>Wie die Nutzlast gegen verlorene Stellen geschützt ist. Der Faltungscode liest bearbeitete Texte besser; der des Aufsatzes hat Blöcke mit je einem Paritätsbit.</translation>
    </message>
    <message>
        <source>How many blocks of one parity bit the paper&apos;s code has; it divides the payload bits.</source>
        <translation>Wie viele Blöcke mit je einem Paritätsbit der Code des Aufsatzes hat; die Zahl teilt die Nutzlastbits.</translation>
    </message>
    <message>
        <source>When the words before a position count as seen, so that it carries nothing: once they have carried bits (the paper&apos;s rule), or as soon as they have stood in the text.</source>
        <translation>Wann die Wörter vor einer Stelle als gesehen gelten, sodass sie nichts trägt: sobald sie Bits getragen haben (Regel des Aufsatzes) oder sobald sie im Text standen.</translation>
    </message>
    <message>
        <source>The generator&apos;s temperature. The verifier must use the same; the lower, the fewer tokens have a choice and can carry bits.</source>
        <translation>Die Temperatur des Erzeugers. Die Prüfung muss dieselbe verwenden; je niedriger sie ist, desto weniger Token haben eine Wahl und können Bits tragen.</translation>
    </message>
    <message>
        <source>The generator&apos;s choice of the likeliest tokens; 0 is off.</source>
        <translation>Die Auswahl der wahrscheinlichsten Token beim Erzeugen; 0 schaltet sie ab.</translation>
    </message>
    <message>
        <source>The generator&apos;s choice of the likeliest share of tokens; 1 is off.</source>
        <translation>Die Auswahl des wahrscheinlichsten Anteils der Token beim Erzeugen; 1 schaltet sie ab.</translation>
    </message>
    <message>
        <source>Whether the verifier puts the tokenizer&apos;s start token before the text. Use it for models that need one.</source>
        <translation>Ob die Prüfung das Anfangstoken des Tokenizers vor den Text stellt. Für Modelle, die eines brauchen.</translation>
    </message>
    <message>
        <source>What comes before the text at the generator, if it is always the same: the model&apos;s chat template, with the word prompt in braces in place of the user&apos;s message, and the word system in braces in place of the system prompt. The verifier then reads the text after it.</source>
        <translation>Was beim Generator vor dem Text steht, wenn es immer dasselbe ist: die Chat-Vorlage des Modells, mit dem Wort prompt in geschweiften Klammern anstelle der Nachricht und dem Wort system in geschweiften Klammern anstelle des Systemprompts. Die Prüfung liest den Text dann danach.</translation>
    </message>
    <message>
        <source>The generator&apos;s system prompt; it goes where the template says system in braces. Records and reports hold the profile, and so this text.</source>
        <translation>Der Systemprompt des Generators; er kommt dorthin, wo in der Vorlage system in geschweiften Klammern steht. Aufzeichnungen und Berichte enthalten das Profil und damit diesen Text.</translation>
    </message>
    <message>
        <source>The tokenizer and the generating model that the profile names; a wrong tokenizer is then refused before an audit begins.</source>
        <translation>Der Tokenizer und das erzeugende Modell, die das Profil nennt; ein falscher Tokenizer wird dann abgewiesen, bevor eine Untersuchung beginnt.</translation>
    </message>
    <message>
        <source>The key that the profile belongs to. With it, a wrong key is noticed before an audit begins.</source>
        <translation>Der Schlüssel, zu dem das Profil gehört. Damit fällt ein falscher Schlüssel auf, bevor eine Untersuchung beginnt.</translation>
    </message>
    <message>
        <source>Whether each day, week or month has a key of its own, derived from the key. An audit then tries those of the last ones; the policy says how many. One that leaks, or must be shown to a court, says nothing about the others.</source>
        <translation>Ob jeder Tag, jede Woche oder jeder Monat einen eigenen Schlüssel hat, abgeleitet von dem Schlüssel. Eine Prüfung probiert dann die der letzten; wie viele, sagt die Richtlinie. Wird einer bekannt, oder muss einer vor Gericht gezeigt werden, sagt das nichts über die anderen.</translation>
    </message>
    <message>
        <source>What the payload bits mean, in order; the widths add up to the payload bits. More: integer: the number that zero stands for. enumeration: names, with commas. date: first day and unit, as 2026-01-01 day. version: widths, as 4.4.8. At most: what can have been issued, as ..4999 or 2026-01-01..today or 1.0, 1.2; state it before you look at a text. Short texts are then found sooner.</source>
        <translation>Was die Bits der Nutzlast bedeuten, der Reihe nach; die Breiten ergeben zusammen die Bits der Nutzlast. Weiteres: integer: die Zahl, für die null steht. enumeration: Namen, mit Kommas. date: erster Tag und Einheit, wie 2026-01-01 day. version: Breiten, wie 4.4.8. Höchstens: was vergeben sein kann, wie ..4999 oder 2026-01-01..today oder 1.0, 1.2; legen Sie es fest, bevor Sie einen Text ansehen. Kurze Texte werden dann eher gefunden.</translation>
    </message>
    <message>
        <source>So few bits tell only a handful of recipients apart.</source>
        <translation>So wenige Bits unterscheiden nur eine Handvoll Empfänger.</translation>
    </message>
    <message>
        <source>So many bits take long texts.</source>
        <translation>So viele Bits brauchen lange Texte.</translation>
    </message>
    <message>
        <source>The convolutional code reads edited texts better.</source>
        <translation>Der Faltungscode liest bearbeitete Texte besser.</translation>
    </message>
    <message>
        <source>At so low a temperature few tokens can carry bits.</source>
        <translation>Bei so niedriger Temperatur können wenige Token Bits tragen.</translation>
    </message>
    <message>
        <source>At so high a temperature texts lose their thread.</source>
        <translation>Bei so hoher Temperatur verlieren Texte den Faden.</translation>
    </message>
    <message>
        <source>Top-k leaves little choice to carry bits.</source>
        <translation>Top-k lässt wenig Wahl, um Bits zu tragen.</translation>
    </message>
    <message>
        <source>Top-p leaves little choice to carry bits.</source>
        <translation>Top-p lässt wenig Wahl, um Bits zu tragen.</translation>
    </message>
    <message>
        <source>So low a first threshold lets positions in that carry next to nothing.</source>
        <translation>Eine so niedrige erste Schwelle lässt Stellen zu, die fast nichts tragen.</translation>
    </message>
    <message>
        <source>So high a first threshold leaves few positions that carry bits.</source>
        <translation>Eine so hohe erste Schwelle lässt wenige Stellen, die Bits tragen.</translation>
    </message>
    <message>
        <source>A window of one token repeats itself often.</source>
        <translation>Ein Fenster von einem Token wiederholt sich oft.</translation>
    </message>
    <message>
        <source>With so long a window each edited word disturbs many positions.</source>
        <translation>Bei einem so langen Fenster stört jedes bearbeitete Wort viele Stellen.</translation>
    </message>
    <message>
        <source>Without a tokenizer&apos;s fingerprint a wrong model is noticed by its size only.</source>
        <translation>Ohne Fingerabdruck des Tokenizers fällt ein falsches Modell nur an seiner Größe auf.</translation>
    </message>
    <message>
        <source>The profile names no key: a wrong key is not noticed before the audit.</source>
        <translation>Das Profil nennt keinen Schlüssel: Ein falscher fällt vor der Untersuchung nicht auf.</translation>
    </message>
    <message>
        <source>How much text a finding takes was not measured for these settings; Models, How much is found measures it.</source>
        <translation>Wie viel Text ein Befund braucht, wurde für diese Einstellungen nicht gemessen; Modelle, Wie viel wird gefunden misst es.</translation>
    </message>
    <message>
        <source>A finding takes about {tokens:count} tokens of unedited text of the built-in model ({usable:count} usable positions, nine texts in ten, prompt unknown).</source>
        <translation>Ein Befund braucht etwa {tokens:count} Token unbearbeiteten Textes des mitgelieferten Modells ({usable:count} verwertbare Stellen, neun von zehn Texten, Prompt unbekannt).</translation>
    </message>
</context>
<context>
    <name>Profiles</name>
    <message>
        <source>The profile “{profile:text}” was saved.</source>
        <translation>Das Profil »{profile:text}« wurde gespeichert.</translation>
    </message>
    <message>
        <source>The profile “{profile:text}” was imported.</source>
        <translation>Das Profil »{profile:text}« wurde importiert.</translation>
    </message>
    <message>
        <source>The profile “{profile:text}” was exported.</source>
        <translation>Das Profil »{profile:text}« wurde exportiert.</translation>
    </message>
    <message>
        <source>Mark by others …</source>
        <translation>Fremde Markierung …</translation>
    </message>
    <message>
        <source>The profile “{profile:text}” was deleted.</source>
        <translation>Das Profil »{profile:text}« wurde gelöscht.</translation>
    </message>
    <message>
        <source>A profile is what generator and verifier share besides the key. It is not secret, and without it a mark cannot be read.</source>
        <translation>Ein Profil ist, was Erzeuger und Prüfung außer dem Schlüssel gemeinsam haben. Es ist nicht geheim, und ohne es lässt sich eine Markierung nicht lesen.</translation>
    </message>
    <message>
        <source>No profiles yet. Make one, or import one.</source>
        <translation>Noch keine Profile. Legen Sie eines an oder importieren Sie eines.</translation>
    </message>
    <message>
        <source>Profiles</source>
        <translation>Profile</translation>
    </message>
    <message>
        <source>New …</source>
        <translation>Neu …</translation>
    </message>
    <message>
        <source>Edit …</source>
        <translation>Bearbeiten …</translation>
    </message>
    <message>
        <source>Import …</source>
        <translation>Importieren …</translation>
    </message>
    <message>
        <source>Export …</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <source>Delete …</source>
        <translation>Löschen …</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Payload</source>
        <translation>Nutzlast</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>Fingerprint</source>
        <translation>Fingerabdruck</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>Notiz</translation>
    </message>
    <message>
        <source>“{model:text}” is not the generating model, and would read it as a proxy: see Models, Fitness.</source>
        <translation>»{model:text}« ist nicht das erzeugende Modell und würde als Stellvertreter lesen: siehe Modelle, Eignung.</translation>
    </message>
    <message>
        <source>It fits the model “{model:text}” and the chosen keys.</source>
        <translation>Es passt zum Modell »{model:text}« und zu den gewählten Schlüsseln.</translation>
    </message>
    <message>
        <source>Import a profile</source>
        <translation>Profil importieren</translation>
    </message>
    <message>
        <source>Profiles (*.json)</source>
        <translation>Profile (*.json)</translation>
    </message>
    <message>
        <source>Export the profile</source>
        <translation>Profil exportieren</translation>
    </message>
    <message>
        <source>Delete a profile</source>
        <translation>Profil löschen</translation>
    </message>
    <message>
        <source>Delete “{profile:text}”?</source>
        <translation>»{profile:text}« löschen?</translation>
    </message>
    <message>
        <source>Texts that were marked with it cannot be read without it. Export it first if there may be such texts.</source>
        <translation>Damit markierte Texte lassen sich ohne es nicht lesen. Exportieren Sie es vorher, falls es solche Texte geben kann.</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>{n:count} bits</source>
        <translation>{n:count} Bits</translation>
    </message>
    <message>
        <source>Its file is of the first form (version 1): what it leaves out has the usual value. Edit and save it to bring it to the present form; its fingerprint stays.</source>
        <translation>Seine Datei hat die erste Form (Version 1): Was fehlt, hat den üblichen Wert. Bearbeiten und speichern bringt sie in die heutige Form; der Fingerabdruck bleibt.</translation>
    </message>
    <message>
        <source>Its file was of the first form (version 1) and is stored in the present one; what it left out has the usual value.</source>
        <translation>Seine Datei hatte die erste Form (Version 1) und ist in der heutigen gespeichert; was fehlte, hat den üblichen Wert.</translation>
    </message>
</context>
<context>
    <name>Queue</name>
    <message>
        <source>Opening</source>
        <translation>Wird geöffnet</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Wartet</translation>
    </message>
    <message>
        <source>Cancelled</source>
        <translation>Abgebrochen</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>Unterbrochen</translation>
    </message>
    <message>
        <source>Auditing, {share:text}</source>
        <translation>Wird untersucht, {share:text}</translation>
    </message>
    <message>
        <source>Auditing</source>
        <translation>Wird untersucht</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Gescheitert</translation>
    </message>
    <message>
        <source>not saved</source>
        <translation>nicht gesichert</translation>
    </message>
    <message>
        <source>saved</source>
        <translation>gesichert</translation>
    </message>
    <message>
        <source>reviewed</source>
        <translation>geprüft</translation>
    </message>
    <message>
        <source>disputed</source>
        <translation>bestritten</translation>
    </message>
    <message>
        <source>to review</source>
        <translation>zu prüfen</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>Das Modell wird geladen</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(token|tokens)}</source>
        <translation>{n:count} Token</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(text|texts)}</source>
        <translation>{n:count} {n:plural(Text|Texte)}</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>Texte</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>Tabelle</translation>
    </message>
    <message>
        <source>Show all texts as a table (Ctrl+T)</source>
        <translation>Alle Texte als Tabelle zeigen (Strg+T)</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Search the texts by name</source>
        <translation>Texte nach Namen suchen</translation>
    </message>
    <message>
        <source>Texts</source>
        <translation>Texte</translation>
    </message>
    <message>
        <source>Show the names of the texts</source>
        <translation>Namen der Texte zeigen</translation>
    </message>
    <message>
        <source>Fold the list of texts</source>
        <translation>Textliste einklappen</translation>
    </message>
    <message>
        <source>Audit</source>
        <translation>Untersuchen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Audit earlier</source>
        <translation>Früher untersuchen</translation>
    </message>
    <message>
        <source>Audit later</source>
        <translation>Später untersuchen</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
</context>
<context>
    <name>Reading</name>
    <message>
        <source>Choose a text that came from a file first.</source>
        <translation>Wählen Sie zuerst einen Text, der aus einer Datei stammt.</translation>
    </message>
    <message>
        <source>How this file is read</source>
        <translation>Wie diese Datei gelesen wird</translation>
    </message>
    <message>
        <source>Encoding</source>
        <translation>Kodierung</translation>
    </message>
    <message>
        <source>Parts of the file</source>
        <translation>Teile der Datei</translation>
    </message>
    <message>
        <source>Preview</source>
        <translation>Vorschau</translation>
    </message>
    <message>
        <source>Read it like this</source>
        <translation>So lesen</translation>
    </message>
    <message>
        <source>Chosen by the program</source>
        <translation>Vom Programm gewählt</translation>
    </message>
    <message>
        <source>The format leaves no choice of an encoding.</source>
        <translation>Das Format lässt bei der Kodierung keine Wahl.</translation>
    </message>
    <message>
        <source>Read as {encoding:text} ({source:text}).</source>
        <translation>Gelesen als {encoding:text} ({source:text}).</translation>
    </message>
    <message>
        <source>the file begins with its mark</source>
        <translation>die Datei beginnt mit deren Kennung</translation>
    </message>
    <message>
        <source>every byte fits</source>
        <translation>jedes Byte passt</translation>
    </message>
    <message>
        <source>the file says so</source>
        <translation>die Datei sagt es</translation>
    </message>
    <message>
        <source>your choice</source>
        <translation>Ihre Wahl</translation>
    </message>
    <message>
        <source>some bytes do not fit</source>
        <translation>einige Bytes passen nicht</translation>
    </message>
    <message>
        <source>guessed from the letters; look at the preview</source>
        <translation>an den Buchstaben erraten; sehen Sie in die Vorschau</translation>
    </message>
    <message>
        <source>assumed; look at the preview</source>
        <translation>angenommen; sehen Sie in die Vorschau</translation>
    </message>
    <message>
        <source>guessed from the pattern of the bytes</source>
        <translation>am Muster der Bytes erraten</translation>
    </message>
    <message>
        <source>{n:count} characters</source>
        <translation>{n:count} Zeichen</translation>
    </message>
    <message>
        <source>The whole text</source>
        <translation>Der ganze Text</translation>
    </message>
    <message>
        <source>another reading</source>
        <translation>andere Lesart</translation>
    </message>
    <message>
        <source>quoted</source>
        <translation>zitiert</translation>
    </message>
    <message>
        <source>attachment</source>
        <translation>Anhang</translation>
    </message>
</context>
<context>
    <name>Ready</name>
    <message>
        <source>The text that the model was given, if you know it</source>
        <translation>Der Text, den das Modell bekommen hat, falls Sie ihn kennen</translation>
    </message>
    <message>
        <source>&amp;Prompt, if it is known: it sharpens the evidence a lot</source>
        <translation>&amp;Prompt, falls bekannt: Er schärft die Anhaltspunkte erheblich</translation>
    </message>
    <message>
        <source>Known prompt</source>
        <translation>Bekannter Prompt</translation>
    </message>
    <message>
        <source>&amp;Several candidates, one a line</source>
        <translation>&amp;Mehrere mögliche, je Zeile einer</translation>
    </message>
    <message>
        <source>Prompts that may have been given, at most 200; the evidence is the mean over all.</source>
        <translation>Prompts, die eingegeben worden sein können, höchstens 200; die Anhaltspunkte sind das Mittel über alle.</translation>
    </message>
    <message>
        <source>Candidates from a &amp;file …</source>
        <translation>Mögliche aus &amp;Datei …</translation>
    </message>
    <message>
        <source>Opening the finding</source>
        <translation>Der Befund wird geöffnet</translation>
    </message>
    <message>
        <source>Not set up yet</source>
        <translation>Noch nicht eingerichtet</translation>
    </message>
    <message>
        <source>Setting up</source>
        <translation>Wird eingerichtet</translation>
    </message>
    <message>
        <source>You stopped the audit: nothing is said of this text, and all other findings are safe. Press Audit (Ctrl+Return) to begin again.</source>
        <translation>Sie haben die Untersuchung abgebrochen: Über diesen Text wird nichts ausgesagt, alle anderen Befunde bleiben erhalten. Drücken Sie Untersuchen (Strg+Eingabe), um neu zu beginnen.</translation>
    </message>
    <message>
        <source>It waits here. Choose how you want to begin:</source>
        <translation>Er wartet hier. Wählen Sie, womit Sie anfangen:</translation>
    </message>
    <message>
        <source>The audit begins when the others are done.</source>
        <translation>Die Untersuchung beginnt, wenn die anderen fertig sind.</translation>
    </message>
    <message>
        <source>The program ended before it was done. Press Audit (Ctrl+Return).</source>
        <translation>Das Programm wurde vorher beendet. Drücken Sie Untersuchen (Strg+Eingabe).</translation>
    </message>
    <message>
        <source>Press Audit (Ctrl+Return).</source>
        <translation>Drücken Sie Untersuchen (Strg+Eingabe).</translation>
    </message>
    <message>
        <source>It can be audited when the model is installed.</source>
        <translation>Er kann untersucht werden, wenn das Modell eingerichtet ist.</translation>
    </message>
    <message>
        <source>Candidate prompts</source>
        <translation>Mögliche Prompts</translation>
    </message>
</context>
<context>
    <name>Register</name>
    <message>
        <source>Import issued payloads</source>
        <translation>Ausgegebene Nutzlasten importieren</translation>
    </message>
    <message>
        <source>Tables and logs (*.csv *.jsonl)</source>
        <translation>Tabellen und Protokolle (*.csv *.jsonl)</translation>
    </message>
    <message>
        <source>Import the logs of a folder</source>
        <translation>Protokolle eines Ordners importieren</translation>
    </message>
    <message>
        <source>Importing “{file:text}”</source>
        <translation>»{file:text}« wird importiert</translation>
    </message>
    <message>
        <source>{n:plural(One row was|{n:count} rows were)} left out.</source>
        <translation>{n:plural(Eine Zeile wurde|{n:count} Zeilen wurden)} weggelassen.</translation>
    </message>
    <message>
        <source>Import stopped; nothing was added.</source>
        <translation>Import angehalten; nichts wurde aufgenommen.</translation>
    </message>
    <message>
        <source>Import the other {n:plural(row|{n:count} rows)}</source>
        <translation>Die {n:plural(andere Zeile|{n:count} anderen Zeilen)} importieren</translation>
    </message>
    <message>
        <source>Nothing was added: rows contradict each other.</source>
        <translation>Nichts wurde aufgenommen: Zeilen widersprechen einander.</translation>
    </message>
    <message>
        <source>Rows that cannot be added</source>
        <translation>Zeilen, die nicht aufgenommen werden können</translation>
    </message>
    <message>
        <source>Row</source>
        <translation>Zeile</translation>
    </message>
    <message>
        <source>What is wrong</source>
        <translation>Was nicht stimmt</translation>
    </message>
    <message>
        <source>Nothing was added. A payload points to one recipient: where two rows name different ones, ask whoever issued them, mend the file and import it again. The others can be imported now: all rows of a payload in question stay out.</source>
        <translation>Es wurde nichts aufgenommen. Eine Nutzlast zeigt auf einen Empfänger: Wo zwei Zeilen verschiedene nennen, fragen Sie, wer sie ausgegeben hat, berichtigen Sie die Datei und importieren Sie sie erneut. Die anderen lassen sich jetzt importieren: Alle Zeilen einer strittigen Nutzlast bleiben draußen.</translation>
    </message>
    <message>
        <source>Export the register</source>
        <translation>Register exportieren</translation>
    </message>
    <message>
        <source>{n:plural(One entry was|{n:count} entries were)} written.</source>
        <translation>{n:plural(Ein Eintrag wurde|{n:count} Einträge wurden)} geschrieben.</translation>
    </message>
    <message>
        <source>Choose a set-up first: it says what a payload is.</source>
        <translation>Wählen Sie zuerst eine Einrichtung: Sie sagt, was eine Nutzlast ist.</translation>
    </message>
    <message>
        <source>{n:plural(One entry was|{n:count} entries were)} added to the register; it has {all:count} now.</source>
        <translation>{n:plural(Ein Eintrag kam|{n:count} Einträge kamen)} in das Register; es hat jetzt {all:count}.</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
</context>
<context>
    <name>Report</name>
    <message>
        <source>A report needs a finished audit. Audit a text.</source>
        <translation>Ein Bericht braucht eine fertige Untersuchung. Untersuchen Sie einen Text.</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>Bericht</translation>
    </message>
    <message>
        <source>Save report …</source>
        <translation>Bericht speichern …</translation>
    </message>
    <message>
        <source>Sign …</source>
        <translation>Signieren …</translation>
    </message>
    <message>
        <source>Show in its folder</source>
        <translation>Im Ordner zeigen</translation>
    </message>
    <message>
        <source>What was filled in last time is back.</source>
        <translation>Was zuletzt ausgefüllt wurde, ist wieder da.</translation>
    </message>
    <message>
        <source>Mend what the form says first.</source>
        <translation>Beheben Sie erst, was das Formular nennt.</translation>
    </message>
    <message>
        <source>Passphrase of the annex</source>
        <translation>Passphrase des Anhangs</translation>
    </message>
    <message>
        <source>Anyone who is to read the names needs it. It is not stored anywhere.</source>
        <translation>Wer die Namen lesen soll, braucht sie. Sie wird nirgends aufbewahrt.</translation>
    </message>
    <message>
        <source>Close the report</source>
        <translation>Bericht schließen</translation>
    </message>
    <message>
        <source>Close without saving?</source>
        <translation>Ohne Speichern schließen?</translation>
    </message>
    <message>
        <source>What was filled in is lost.</source>
        <translation>Was ausgefüllt wurde, geht verloren.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>This has {n:count} characters; a report takes {most:count}. Shorten it.</source>
        <translation>Das sind {n:count} Zeichen; ein Bericht fasst {most:count}. Kürzen Sie es.</translation>
    </message>
    <message>
        <source>What the report is told</source>
        <translation>Angaben zum Bericht</translation>
    </message>
    <message>
        <source>A final report names who authorised it.</source>
        <translation>Ein endgültiger Bericht nennt, wer ihn freigegeben hat.</translation>
    </message>
    <message>
        <source>Number</source>
        <translation>Nummer</translation>
    </message>
    <message>
        <source>Case</source>
        <translation>Fall</translation>
    </message>
    <message>
        <source>Classification</source>
        <translation>Einstufung</translation>
    </message>
    <message>
        <source>e.g. confidential</source>
        <translation>z. B. vertraulich</translation>
    </message>
    <message>
        <source>Date of issue</source>
        <translation>Ausgabedatum</translation>
    </message>
    <message>
        <source>Version</source>
        <translation>Version</translation>
    </message>
    <message>
        <source>Earlier reports</source>
        <translation>Frühere Berichte</translation>
    </message>
    <message>
        <source>None: this is the first</source>
        <translation>Keine: Dies ist der erste</translation>
    </message>
    <message>
        <source>Replaces a report</source>
        <translation>Ersetzt einen Bericht</translation>
    </message>
    <message>
        <source>Supplements a report</source>
        <translation>Ergänzt einen Bericht</translation>
    </message>
    <message>
        <source>Number of the earlier report</source>
        <translation>Nummer des früheren Berichts</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source>Final: reviewed and authorised</source>
        <translation>Endgültig: geprüft und freigegeben</translation>
    </message>
    <message>
        <source>Until then every page says that this is a draft.</source>
        <translation>Bis dahin nennt sich jede Seite Entwurf.</translation>
    </message>
    <message>
        <source>It stays a draft: anyone can know the key {keys:text}.</source>
        <translation>Er bleibt ein Entwurf: Den Schlüssel {keys:text} kann jeder kennen.</translation>
    </message>
    <message>
        <source>final</source>
        <translation>endgültig</translation>
    </message>
    <message>
        <source>draft</source>
        <translation>Entwurf</translation>
    </message>
    <message>
        <source>Write it as 2026-11-21.</source>
        <translation>Schreibweise: 2026-11-21.</translation>
    </message>
    <message>
        <source>Audits</source>
        <translation>Untersuchungen</translation>
    </message>
    <message>
        <source>Audits of this report</source>
        <translation>Untersuchungen dieses Berichts</translation>
    </message>
    <message>
        <source>{n:count} of {all:count}</source>
        <translation>{n:count} von {all:count}</translation>
    </message>
    <message>
        <source>Tick at least one audit.</source>
        <translation>Wählen Sie mindestens eine Untersuchung.</translation>
    </message>
    <message>
        <source>A report takes at most {most:count} audits.</source>
        <translation>Ein Bericht fasst höchstens {most:count} Untersuchungen.</translation>
    </message>
    <message>
        <source>{n:count} of {all:count} given</source>
        <translation>{n:count} von {all:count} angegeben</translation>
    </message>
    <message>
        <source>not given</source>
        <translation>nicht angegeben</translation>
    </message>
    <message>
        <source>Parties</source>
        <translation>Beteiligte</translation>
    </message>
    <message>
        <source>Organisation</source>
        <translation>Organisation</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Anschrift</translation>
    </message>
    <message>
        <source>Place of the work</source>
        <translation>Ort der Arbeit</translation>
    </message>
    <message>
        <source>Customer</source>
        <translation>Auftraggeber</translation>
    </message>
    <message>
        <source>Question</source>
        <translation>Fragestellung</translation>
    </message>
    <message>
        <source>Legal basis or purpose</source>
        <translation>Rechtsgrundlage oder Zweck</translation>
    </message>
    <message>
        <source>Examiner</source>
        <translation>Untersucht von</translation>
    </message>
    <message>
        <source>Technical reviewer</source>
        <translation>Technisch geprüft von</translation>
    </message>
    <message>
        <source>Authoriser</source>
        <translation>Freigegeben von</translation>
    </message>
    <message>
        <source>Item</source>
        <translation>Gegenstand</translation>
    </message>
    <message>
        <source>Source and how it was received</source>
        <translation>Herkunft und Art des Eingangs</translation>
    </message>
    <message>
        <source>Date and time of receipt</source>
        <translation>Datum und Uhrzeit des Eingangs</translation>
    </message>
    <message>
        <source>Custody since</source>
        <translation>Verwahrung seither</translation>
    </message>
    <message>
        <source>What the customer said about it</source>
        <translation>Angaben des Auftraggebers dazu</translation>
    </message>
    <message>
        <source>Case information disclosed, and when</source>
        <translation>Offengelegte Fallangaben und Zeitpunkt</translation>
    </message>
    <message>
        <source>Remarks</source>
        <translation>Bemerkungen</translation>
    </message>
    <message>
        <source>Deviations from the method</source>
        <translation>Abweichungen vom Verfahren</translation>
    </message>
    <message>
        <source>Parts that others provided</source>
        <translation>Beiträge Dritter</translation>
    </message>
    <message>
        <source>Remark of the examiner</source>
        <translation>Bemerkung der untersuchenden Person</translation>
    </message>
    <message>
        <source>In a box of its own, apart from the findings</source>
        <translation>In einem eigenen Kasten, getrennt von den Befunden</translation>
    </message>
    <message>
        <source>What the reviewer recomputed, and the result</source>
        <translation>Was nachgerechnet wurde und das Ergebnis</translation>
    </message>
    <message>
        <source>Qualifications of the examiner</source>
        <translation>Qualifikation</translation>
    </message>
    <message>
        <source>Standing remarks of the organisation</source>
        <translation>Ständige Hinweise der Stelle</translation>
    </message>
    <message>
        <source>Printed in every report, next to its integrity</source>
        <translation>Werden in jedem Bericht gedruckt, bei der Unversehrtheit</translation>
    </message>
    <message>
        <source>Layout</source>
        <translation>Gestaltung</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Paper</source>
        <translation>Papier</translation>
    </message>
    <message>
        <source>US Letter</source>
        <translation>US Letter</translation>
    </message>
    <message>
        <source>Choose …</source>
        <translation>Wählen …</translation>
    </message>
    <message>
        <source>Choose a logo</source>
        <translation>Logo wählen</translation>
    </message>
    <message>
        <source>Leave out</source>
        <translation>Weglassen</translation>
    </message>
    <message>
        <source>Leave the logo out</source>
        <translation>Logo weglassen</translation>
    </message>
    <message>
        <source>Logo (PNG or SVG)</source>
        <translation>Logo (PNG oder SVG)</translation>
    </message>
    <message>
        <source>from the case</source>
        <translation>aus dem Fall</translation>
    </message>
    <message>
        <source>Pages with passages are not shown: the file is not at hand.</source>
        <translation>Seiten mit Passagen werden nicht gezeigt: Die Datei liegt nicht vor.</translation>
    </message>
    <message>
        <source>Pages with passages are shown as pictures.</source>
        <translation>Seiten mit Passagen werden als Bilder gezeigt.</translation>
    </message>
    <message>
        <source>none</source>
        <translation>fehlt</translation>
    </message>
    <message>
        <source>Pictures (*.png *.svg)</source>
        <translation>Bilder (*.png *.svg)</translation>
    </message>
    <message>
        <source>Previous page</source>
        <translation>Vorige Seite</translation>
    </message>
    <message>
        <source>Next page</source>
        <translation>Nächste Seite</translation>
    </message>
    <message>
        <source>Size of the pages</source>
        <translation>Größe der Seiten</translation>
    </message>
    <message>
        <source>Whole page</source>
        <translation>Ganze Seite</translation>
    </message>
    <message>
        <source>Page width</source>
        <translation>Seitenbreite</translation>
    </message>
    <message>
        <source>Actual size</source>
        <translation>Originalgröße</translation>
    </message>
    <message>
        <source>Making the preview</source>
        <translation>Vorschau wird erstellt</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal versuchen</translation>
    </message>
    <message>
        <source>Preview</source>
        <translation>Vorschau</translation>
    </message>
    <message>
        <source>waits for the form</source>
        <translation>wartet auf das Formular</translation>
    </message>
    <message>
        <source>from before the last change</source>
        <translation>von vor der letzten Änderung</translation>
    </message>
    <message>
        <source>being made …</source>
        <translation>wird erstellt …</translation>
    </message>
    <message>
        <source>being renewed …</source>
        <translation>wird erneuert …</translation>
    </message>
    <message>
        <source>The form says what is to be mended.</source>
        <translation>Das Formular nennt, was zu beheben ist.</translation>
    </message>
    <message>
        <source>Black out</source>
        <translation>Schwärzen</translation>
    </message>
    <message>
        <source>Black out what is selected (Del)</source>
        <translation>Markiertes schwärzen (Entf)</translation>
    </message>
    <message>
        <source>Black out everywhere</source>
        <translation>Überall schwärzen</translation>
    </message>
    <message>
        <source>Black out what is selected wherever the text has it</source>
        <translation>Markiertes überall schwärzen, wo es im Text steht</translation>
    </message>
    <message>
        <source>Show again</source>
        <translation>Wieder zeigen</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Too many places have these words. Select more of them.</source>
        <translation>Zu viele Stellen haben diese Wörter. Markieren Sie mehr davon.</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(stretch is|stretches are)} blacked out, {black:count} of {all:count} characters.</source>
        <translation>{n:count} {n:plural(Stelle ist|Stellen sind)} geschwärzt, {black:count} von {all:count} Zeichen.</translation>
    </message>
    <message>
        <source>Nothing is blacked out yet. Select words in the text.</source>
        <translation>Noch ist nichts geschwärzt. Markieren Sie Wörter im Text.</translation>
    </message>
    <message>
        <source>Text to black out</source>
        <translation>Zu schwärzender Text</translation>
    </message>
    <message>
        <source>Files next to the PDF</source>
        <translation>Dateien neben dem PDF</translation>
    </message>
    <message>
        <source>Record (JSON)</source>
        <translation>Aufzeichnung (JSON)</translation>
    </message>
    <message>
        <source>Bits and tokens (CSV)</source>
        <translation>Bits und Token (CSV)</translation>
    </message>
    <message>
        <source>The report as a page (HTML)</source>
        <translation>Der Bericht als Seite (HTML)</translation>
    </message>
    <message>
        <source>Sealed annex with the names (PDF)</source>
        <translation>Versiegelter Anhang mit den Namen (PDF)</translation>
    </message>
    <message>
        <source>The names of those to whom payloads were issued never appear in the report. They are in the annex; the report prints the annex&apos;s SHA-256.</source>
        <translation>Die Namen derer, an die Nutzlasten ausgegeben wurden, erscheinen nie im Bericht. Sie stehen im Anhang; der Bericht druckt den SHA-256 des Anhangs.</translation>
    </message>
    <message>
        <source>Encrypt the annex under a passphrase</source>
        <translation>Anhang unter einer Passphrase verschlüsseln</translation>
    </message>
    <message>
        <source>Saving asks for this passphrase, twice: choose it before.</source>
        <translation>Beim Speichern wird zweimal nach dieser Passphrase gefragt: Wählen Sie sie vorher.</translation>
    </message>
    <message>
        <source>annex</source>
        <translation>Anhang</translation>
    </message>
    <message>
        <source>Progress of saving</source>
        <translation>Fortschritt des Speicherns</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Saving the report …</source>
        <translation>Bericht wird gespeichert …</translation>
    </message>
    <message>
        <source>Stopped; nothing was written.</source>
        <translation>Angehalten; nichts wurde geschrieben.</translation>
    </message>
    <message>
        <source>There already {n:plural(is {names:text}. Replace it?|are {n:count} of these files: {names:text}. Replace them?)}</source>
        <translation>{n:plural({names:text} gibt es schon. Ersetzen?|{n:count} dieser Dateien gibt es schon: {names:text}. Ersetzen?)}</translation>
    </message>
    <message>
        <source>Save the report</source>
        <translation>Bericht speichern</translation>
    </message>
    <message>
        <source>Their present content is lost.</source>
        <translation>Ihr jetziger Inhalt geht verloren.</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>Ersetzen</translation>
    </message>
    <message>
        <source>“{file:text}” is saved.</source>
        <translation>»{file:text}« ist gespeichert.</translation>
    </message>
    <message>
        <source>{n:count} more {n:plural(file is|files are)} next to it.</source>
        <translation>{n:count} weitere {n:plural(Datei liegt|Dateien liegen)} daneben.</translation>
    </message>
    <message>
        <source>The names are next to it in “{file:text}”, which only you can read; store that file separately.</source>
        <translation>Die Namen stehen daneben in »{file:text}«, das nur Sie lesen können; bewahren Sie diese Datei getrennt auf.</translation>
    </message>
    <message>
        <source>Saving asks for the annex’s passphrase.</source>
        <translation>Beim Speichern wird nach der Passphrase des Anhangs gefragt.</translation>
    </message>
    <message>
        <source>The file that was examined</source>
        <translation>Die untersuchte Datei</translation>
    </message>
    <message>
        <source>PDF (*.pdf)</source>
        <translation>PDF (*.pdf)</translation>
    </message>
    <message>
        <source>Reports (*.pdf)</source>
        <translation>Berichte (*.pdf)</translation>
    </message>
    <message>
        <source>Examined text</source>
        <translation>Untersuchter Text</translation>
    </message>
    <message>
        <source>The report shows</source>
        <translation>Der Bericht zeigt</translation>
    </message>
    <message>
        <source>the whole text</source>
        <translation>den ganzen Text</translation>
    </message>
    <message>
        <source>excerpts around the passages</source>
        <translation>Auszüge um die Passagen</translation>
    </message>
    <message>
        <source>the text with parts blacked out</source>
        <translation>den Text mit Schwärzungen</translation>
    </message>
    <message>
        <source>nothing of the text</source>
        <translation>nichts vom Text</translation>
    </message>
    <message>
        <source>Original file …</source>
        <translation>Originaldatei …</translation>
    </message>
    <message>
        <source>A case keeps the text, not the file: give the PDF for its pages</source>
        <translation>Ein Fall bewahrt den Text auf, nicht die Datei: Geben Sie für die Seiten das PDF an</translation>
    </message>
    <message>
        <source>The text and its tokens are in the report and its record.</source>
        <translation>Der Text und seine Token stehen im Bericht und in seiner Aufzeichnung.</translation>
    </message>
    <message>
        <source>Passages with some words around them; what is left out is in the file nowhere.</source>
        <translation>Passagen mit einigen Wörtern darum; was fehlt, steht nirgends in der Datei.</translation>
    </message>
    <message>
        <source>What is blacked out is in the file nowhere; its length can be seen.</source>
        <translation>Was geschwärzt ist, steht nirgends in der Datei; seine Länge ist zu sehen.</translation>
    </message>
    <message>
        <source>The item is named by its file name and its SHA-256.</source>
        <translation>Der Gegenstand wird mit Dateinamen und SHA-256 genannt.</translation>
    </message>
    <message>
        <source>This record holds no text; there is nothing to show.</source>
        <translation>Diese Aufzeichnung enthält keinen Text; es gibt nichts zu zeigen.</translation>
    </message>
    <message>
        <source>In {n:count} {n:plural(text|texts)} nothing is blacked out; {n:plural(it appears|they appear)} whole.</source>
        <translation>In {n:count} {n:plural(Text|Texten)} ist nichts geschwärzt; {n:plural(er erscheint|sie erscheinen)} ganz.</translation>
    </message>
    <message>
        <source>open</source>
        <translation>geöffnet</translation>
    </message>
    <message>
        <source>folded</source>
        <translation>zugeklappt</translation>
    </message>
    <message>
        <source>Preview of the report</source>
        <translation>Vorschau des Berichts</translation>
    </message>
</context>
<context>
    <name>ReportCheck</name>
    <message>
        <source>Verify a report</source>
        <translation>Bericht nachprüfen</translation>
    </message>
    <message>
        <source>Choose a report …</source>
        <translation>Bericht wählen …</translation>
    </message>
    <message>
        <source>Trust a certificate …</source>
        <translation>Einem Zertifikat vertrauen …</translation>
    </message>
    <message>
        <source>Audit the embedded text again</source>
        <translation>Eingebetteten Text erneut untersuchen</translation>
    </message>
    <message>
        <source>Needs the key and the model of the report on this computer.</source>
        <translation>Braucht Schlüssel und Modell des Berichts auf diesem Rechner.</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>Nachprüfen</translation>
    </message>
    <message>
        <source>Checking</source>
        <translation>Nachprüfung</translation>
    </message>
    <message>
        <source>Single checks</source>
        <translation>Einzelne Prüfschritte</translation>
    </message>
    <message>
        <source>Copy the results</source>
        <translation>Ergebnisse kopieren</translation>
    </message>
    <message>
        <source>Show the audits</source>
        <translation>Untersuchungen zeigen</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>or drop a PDF on this window</source>
        <translation>oder ein PDF auf dieses Fenster ziehen</translation>
    </message>
    <message>
        <source>None: who signed is shown, but not held against anything.</source>
        <translation>Keines: Wer signiert hat, wird gezeigt, aber mit nichts verglichen.</translation>
    </message>
    <message>
        <source>The PDF is taken apart without access to files or network.</source>
        <translation>Das PDF wird ohne Zugriff auf Dateien oder Netz zerlegt.</translation>
    </message>
    <message>
        <source>Each check has its own result; no single tick stands for all of them.</source>
        <translation>Jeder Prüfschritt hat sein eigenes Ergebnis; kein einzelnes Häkchen steht für alle.</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>Bericht</translation>
    </message>
    <message>
        <source>Checking …</source>
        <translation>Nachprüfung läuft …</translation>
    </message>
    <message>
        <source>Choose a report</source>
        <translation>Bericht wählen</translation>
    </message>
    <message>
        <source>Reports (*.pdf)</source>
        <translation>Berichte (*.pdf)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Trust a certificate</source>
        <translation>Einem Zertifikat vertrauen</translation>
    </message>
    <message>
        <source>Certificates (*.pem *.crt *.cer *.der)</source>
        <translation>Zertifikate (*.pem *.crt *.cer *.der)</translation>
    </message>
    <message>
        <source>Nothing wrong in {n:plural(one check|{n:count} checks)}</source>
        <translation>Nichts zu beanstanden in {n:plural(einer Prüfung|{n:count} Prüfungen)}</translation>
    </message>
</context>
<context>
    <name>Results</name>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Part</source>
        <translation>Teil</translation>
    </message>
    <message>
        <source>Outcome</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source>For whom, when</source>
        <translation>Für wen, wann</translation>
    </message>
    <message>
        <source>Still to audit</source>
        <translation>Noch zu untersuchen</translation>
    </message>
    <message>
        <source>Texts that are in the list only once</source>
        <translation>Texte, die nur einmal in der Liste sind</translation>
    </message>
    <message>
        <source>Text not read</source>
        <translation>Text nicht gelesen</translation>
    </message>
    <message>
        <source>{n:count} times the same text: {name:text}</source>
        <translation>{n:count}-mal derselbe Text: {name:text}</translation>
    </message>
    <message>
        <source>{n:count} shown</source>
        <translation>{n:count} davon zu sehen</translation>
    </message>
    <message>
        <source>{words:text}, closed</source>
        <translation>{words:text}, zugeklappt</translation>
    </message>
    <message>
        <source>Evidence, log₁₀</source>
        <translation>Anhaltspunkte, log₁₀</translation>
    </message>
    <message>
        <source>Marked</source>
        <translation>Markiert</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Case</source>
        <translation>Fall</translation>
    </message>
    <message>
        <source>Review</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Search names, payloads and reasons</source>
        <translation>Namen, Nutzlasten und Gründe durchsuchen</translation>
    </message>
    <message>
        <source>Group by outcome</source>
        <translation>Nach Ergebnis gruppieren</translation>
    </message>
    <message>
        <source>Texts</source>
        <translation>Texte</translation>
    </message>
    <message>
        <source>File</source>
        <translation>Datei</translation>
    </message>
    <message>
        <source>SHA-256 of the file</source>
        <translation>SHA-256 der Datei</translation>
    </message>
    <message>
        <source>SHA-256 of the text</source>
        <translation>SHA-256 des Textes</translation>
    </message>
    <message>
        <source>Same text as</source>
        <translation>Gleicher Text wie</translation>
    </message>
    <message>
        <source>Number of the audit</source>
        <translation>Nummer der Untersuchung</translation>
    </message>
    <message>
        <source>Examined (UTC)</source>
        <translation>Untersucht (UTC)</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Profile</source>
        <translation>Profil</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>What was done</source>
        <translation>Was getan wurde</translation>
    </message>
    <message>
        <source>Written by</source>
        <translation>Geschrieben von</translation>
    </message>
    <message>
        <source>Written on (UTC)</source>
        <translation>Geschrieben am (UTC)</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Profiles</source>
        <translation>Profile</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>At 6 or more, a text that has nothing to do with the key reaches it at most once in a million times. It says nothing about who wrote the rest of a text.</source>
        <translation>Einen Wert ab 6 erreicht ein Text, der mit dem Schlüssel nichts zu tun hat, höchstens einmal in einer Million Fällen. Darüber, wer den übrigen Text geschrieben hat, sagt er nichts.</translation>
    </message>
    <message>
        <source>Neither a mark nor its absence could be shown: it is no statement that the text is unmarked.</source>
        <translation>Weder eine Markierung noch ihr Fehlen ließ sich zeigen: Das ist keine Aussage, dass der Text unmarkiert ist.</translation>
    </message>
    <message>
        <source>The records</source>
        <translation>Die Protokolle</translation>
    </message>
    <message>
        <source>This table is only an overview. Rely on the report and the record of each audit.</source>
        <translation>Diese Tabelle ist nur eine Übersicht. Verlassen Sie sich auf den Bericht und die Aufzeichnung jeder Prüfung.</translation>
    </message>
    <message>
        <source>View</source>
        <translation>Ansicht</translation>
    </message>
    <message>
        <source>Audited so far</source>
        <translation>Bisher untersucht</translation>
    </message>
    <message>
        <source>Export …</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <source>Open results …</source>
        <translation>Ergebnisse öffnen …</translation>
    </message>
    <message>
        <source>Report …</source>
        <translation>Bericht …</translation>
    </message>
    <message>
        <source>This row comes from a result; its text is not in the list.</source>
        <translation>Diese Zeile stammt aus einem Ergebnis; ihr Text ist nicht in der Liste.</translation>
    </message>
    <message>
        <source>Export the table</source>
        <translation>Die Tabelle ausgeben</translation>
    </message>
    <message>
        <source>Excel (*.xlsx)</source>
        <translation>Excel (*.xlsx)</translation>
    </message>
    <message>
        <source>{n:plural(One row|{n:count} rows)} exported.</source>
        <translation>{n:plural(Eine Zeile|{n:count} Zeilen)} ausgegeben.</translation>
    </message>
    <message>
        <source>Open results of pura batch</source>
        <translation>Ergebnisse von pura batch öffnen</translation>
    </message>
    <message>
        <source>Results (*.jsonl *.parquet)</source>
        <translation>Ergebnisse (*.jsonl *.parquet)</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Alle</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(text|texts)}, {m:plural(one mark|{m:count} with a mark)}</source>
        <translation>{n:count} {n:plural(Text|Texte)}, {m:plural(einer|{m:count})} mit Markierung</translation>
    </message>
    <message>
        <source>{n:count} of {all:count} done</source>
        <translation>{n:count} von {all:count} fertig</translation>
    </message>
    <message>
        <source>Audit {n:count} remaining</source>
        <translation>Übrige {n:count} untersuchen</translation>
    </message>
    <message>
        <source>Retry {n:count} failed</source>
        <translation>{n:count} erneut versuchen</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Report of {n:count} …</source>
        <translation>Bericht über {n:count} …</translation>
    </message>
    <message>
        <source>Forget this filter</source>
        <translation>Diesen Filter vergessen</translation>
    </message>
    <message>
        <source>Keep this filter</source>
        <translation>Diesen Filter merken</translation>
    </message>
    <message>
        <source>Group equal texts</source>
        <translation>Gleiche Texte gruppieren</translation>
    </message>
</context>
<context>
    <name>Ring</name>
    <message>
        <source>Sector {name:text}
Anchor {anchor:text}
Kernel weight {weight:text}
Share {share:text}</source>
        <translation>Sektor {name:text}
Anker {anchor:text}
Kerngewicht {weight:text}
Anteil {share:text}</translation>
    </message>
    <message>
        <source>of the circle</source>
        <translation>des Kreises</translation>
    </message>
    <message>
        <source>Carries no bits: it is at the very start of the text.</source>
        <translation>Trägt keine Bits: Es steht ganz am Anfang des Textes.</translation>
    </message>
    <message>
        <source>Carries no bits: the words before it occurred earlier in the text already.</source>
        <translation>Trägt keine Bits: Die Wörter davor kamen weiter vorn im Text schon einmal vor.</translation>
    </message>
    <message>
        <source>Carries no bits: the model was too sure of it, {bits:text} bits of entropy where {least:text} are needed.</source>
        <translation>Trägt keine Bits: Das Modell war sich zu gewiss, {bits:text} Bit Entropie, wo {least:text} nötig sind.</translation>
    </message>
    <message>
        <source>Counts: the tokens before it occur here for the first time.</source>
        <translation>Zählt: Die Token davor kommen hier zum ersten Mal vor.</translation>
    </message>
    <message>
        <source>Does not count: it is at the very start of the text.</source>
        <translation>Zählt nicht: Es steht ganz am Anfang des Textes.</translation>
    </message>
    <message>
        <source>Does not count: the tokens before it occurred earlier in the text already.</source>
        <translation>Zählt nicht: Die Token davor kamen weiter vorn im Text schon einmal vor.</translation>
    </message>
    <message>
        <source>The best fitting bits ask for sector {sector:text} here; they are not a finding.</source>
        <translation>Die am besten passenden Bits verlangen hier Sektor {sector:text}; sie sind kein Befund.</translation>
    </message>
    <message>
        <source>Supports the payload, which asks for sector {sector:text}.</source>
        <translation>Stützt die Nutzlast, die Sektor {sector:text} verlangt.</translation>
    </message>
    <message>
        <source>Speaks against the payload, which asks for sector {sector:text}.</source>
        <translation>Spricht gegen die Nutzlast, die Sektor {sector:text} verlangt.</translation>
    </message>
    <message>
        <source>Says next to nothing: the payload asks for sector {sector:text}.</source>
        <translation>Besagt so gut wie nichts: Die Nutzlast verlangt Sektor {sector:text}.</translation>
    </message>
    <message>
        <source>no bits</source>
        <translation>keine Bits</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(bit|bits)}</source>
        <translation>{n:count} {n:plural(Bit|Bits)}</translation>
    </message>
    <message>
        <source>position {n:text}</source>
        <translation>Stelle {n:text}</translation>
    </message>
    <message>
        <source>positions {range:text}</source>
        <translation>Stellen {range:text}</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Place</source>
        <translation>Ort</translation>
    </message>
    <message>
        <source>Where on the circle the model has the token: the more probable, the wider.</source>
        <translation>Wo auf dem Kreis das Token beim Modell liegt: je wahrscheinlicher, desto breiter.</translation>
    </message>
    <message>
        <source>Turned by</source>
        <translation>Gedreht um</translation>
    </message>
    <message>
        <source>How far the key turns the sectors here, as a part of the circle.</source>
        <translation>Wie weit der Schlüssel die Sektoren hier dreht, als Teil des Kreises.</translation>
    </message>
    <message>
        <source>Points to</source>
        <translation>Zeigt auf</translation>
    </message>
    <message>
        <source>The bits that the token fits best.</source>
        <translation>Die Bits, zu denen das Token am besten passt.</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>Passung</translation>
    </message>
    <message>
        <source>How well it fits the bits of the payload: 0 not at all, 1 them alone.</source>
        <translation>Wie gut es zu den Bits der Nutzlast passt: 0 gar nicht, 1 nur zu ihnen.</translation>
    </message>
    <message>
        <source>Evidence</source>
        <translation>Stärke</translation>
    </message>
    <message>
        <source>What the token adds to the evidence: +1 is ten times for the mark, −1 ten times against it.</source>
        <translation>Was das Token zu den Anhaltspunkten beiträgt: +1 ist zehnmal mehr für die Markierung, −1 zehnmal mehr dagegen.</translation>
    </message>
    <message>
        <source>Appears here for the token that is selected.</source>
        <translation>Erscheint hier für das ausgewählte Token.</translation>
    </message>
    <message>
        <source>Token {n:text}  “{words:text}”</source>
        <translation>Token {n:text}  »{words:text}«</translation>
    </message>
    <message>
        <source>Sector</source>
        <translation>Sektor</translation>
    </message>
    <message>
        <source>Label</source>
        <translation>Kennung</translation>
    </message>
    <message>
        <source>Anchor</source>
        <translation>Anker</translation>
    </message>
    <message>
        <source>Kernel weight</source>
        <translation>Kerngewicht</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>Anteil</translation>
    </message>
    <message>
        <source>Asked for by the payload</source>
        <translation>Von der Nutzlast verlangt</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>ja</translation>
    </message>
</context>
<context>
    <name>Session</name>
    <message>
        <source>opening</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Only the first {most:text} parts of that file were taken.</source>
        <translation>Nur die ersten {most:text} Teile dieser Datei wurden genommen.</translation>
    </message>
    <message>
        <source>Pasted text {n:text}</source>
        <translation>Eingefügter Text {n:text}</translation>
    </message>
    <message>
        <source>pasting</source>
        <translation>Einfügen</translation>
    </message>
    <message>
        <source>Sample text</source>
        <translation>Beispieltext</translation>
    </message>
    <message>
        <source>removing</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>{name:text}, first {n:count} characters</source>
        <translation>{name:text}, die ersten {n:count} Zeichen</translation>
    </message>
    <message>
        <source>Choose a key, a model and a profile first.</source>
        <translation>Wählen Sie zuerst Schlüssel, Modell und Profil.</translation>
    </message>
    <message>
        <source>The memory of the device ran short, so the text was read in smaller pieces. The findings are the same.</source>
        <translation>Der Speicher des Geräts wurde knapp, daher wurde der Text in kleineren Stücken gelesen. Die Befunde sind dieselben.</translation>
    </message>
    <message>
        <source>Reading texts side by side met a fault of the program. {count:plural(One text was|{count:count} texts were)} read alone; the findings are the same.</source>
        <translation>Beim Lesen nebeneinander trat ein Fehler des Programms auf. {count:plural(Ein Text wurde|{count:count} Texte wurden)} einzeln gelesen; die Befunde sind dieselben.</translation>
    </message>
    <message>
        <source>This text was pasted and not yet examined.</source>
        <translation>Dieser Text war eingefügt und noch nicht untersucht.</translation>
    </message>
    <message>
        <source>The settings keep no readable texts: paste it again.</source>
        <translation>Laut Einstellungen werden keine lesbaren Texte aufbewahrt: Fügen Sie ihn noch einmal ein.</translation>
    </message>
    <message>
        <source>{n:count} finished</source>
        <translation>{n:count} fertig</translation>
    </message>
    <message>
        <source>{n:count} interrupted</source>
        <translation>{n:count} unterbrochen</translation>
    </message>
    <message>
        <source>{n:count} failed or cancelled</source>
        <translation>{n:count} gescheitert oder abgebrochen</translation>
    </message>
    <message>
        <source>{n:count} ready</source>
        <translation>{n:count} bereit</translation>
    </message>
    <message>
        <source>The list is back: {parts:text}.</source>
        <translation>Die Liste ist wieder da: {parts:text}.</translation>
    </message>
</context>
<context>
    <name>Settings</name>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Takes effect when the program starts the next time.</source>
        <translation>Gilt ab dem nächsten Start des Programms.</translation>
    </message>
    <message>
        <source>Look</source>
        <translation>Aussehen</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>Farben</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Language of the system</source>
        <translation>Sprache des Systems</translation>
    </message>
    <message>
        <source> px</source>
        <translation> px</translation>
    </message>
    <message>
        <source>Size of the examined text</source>
        <translation>Größe des untersuchten Textes</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>Datenschutz</translation>
    </message>
    <message>
        <source>Remember recent files: where they lie, not what is in them</source>
        <translation>Zuletzt geöffnete Dateien merken: wo sie liegen, nicht was darin steht</translation>
    </message>
    <message>
        <source>Clear the list</source>
        <translation>Liste leeren</translation>
    </message>
    <message>
        <source>Your name in the case log</source>
        <translation>Ihr Name im Fallbuch</translation>
    </message>
    <message>
        <source>Examined texts</source>
        <translation>Untersuchte Texte</translation>
    </message>
    <message>
        <source>Kept readable in the case log</source>
        <translation>Lesbar im Fallbuch aufbewahren</translation>
    </message>
    <message>
        <source>Kept encrypted, under a passphrase</source>
        <translation>Verschlüsselt aufbewahren, mit Passphrase</translation>
    </message>
    <message>
        <source>Not kept, only their digest</source>
        <translation>Nicht aufbewahren, nur den Hashwert</translation>
    </message>
    <message>
        <source>Every finished audit goes at once into the case “Unfiled”.</source>
        <translation>Jede fertige Prüfung kommt sofort in den Fall »Nicht zugeordnet«.</translation>
    </message>
    <message>
        <source>What the log file notes</source>
        <translation>Was das Protokoll festhält</translation>
    </message>
    <message>
        <source>Faults only</source>
        <translation>Nur Fehler</translation>
    </message>
    <message>
        <source>Faults and warnings</source>
        <translation>Fehler und Warnungen</translation>
    </message>
    <message>
        <source>What the program does</source>
        <translation>Was das Programm tut</translation>
    </message>
    <message>
        <source>Everything, for support</source>
        <translation>Alles, für die Betreuung</translation>
    </message>
    <message>
        <source>Texts and keys never appear in the log.</source>
        <translation>Texte und Schlüssel erscheinen nie im Protokoll.</translation>
    </message>
    <message>
        <source>The model runs on</source>
        <translation>Das Modell läuft auf</translation>
    </message>
    <message>
        <source>The fastest that is here</source>
        <translation>Dem schnellsten, das da ist</translation>
    </message>
    <message>
        <source>The processor</source>
        <translation>Dem Prozessor</translation>
    </message>
    <message>
        <source>The NVIDIA or AMD card (CUDA, ROCm)</source>
        <translation>Der NVIDIA- oder AMD-Karte (CUDA, ROCm)</translation>
    </message>
    <message>
        <source>The Apple GPU</source>
        <translation>Der Apple-GPU</translation>
    </message>
    <message>
        <source>Numbers of the model</source>
        <translation>Zahlen des Modells</translation>
    </message>
    <message>
        <source>32 bit (usual)</source>
        <translation>32 Bit (üblich)</translation>
    </message>
    <message>
        <source>16 bit, bfloat16 (GPU or newer processor)</source>
        <translation>16 Bit, bfloat16 (GPU oder neuerer Prozessor)</translation>
    </message>
    <message>
        <source>16 bit, float16 (GPU only)</source>
        <translation>16 Bit, float16 (nur GPU)</translation>
    </message>
    <message>
        <source>Choose certificates …</source>
        <translation>Zertifikate wählen …</translation>
    </message>
    <message>
        <source>Trust nobody</source>
        <translation>Niemandem trauen</translation>
    </message>
    <message>
        <source>Signers of manifests</source>
        <translation>Unterzeichner von Manifesten</translation>
    </message>
    <message>
        <source>Signed manifests (C2PA) in or beside a text are stated as trusted where this list stands behind their signer. They are never part of the evidence.</source>
        <translation>Signierte Manifeste (C2PA) in einem Text oder neben ihm gelten als vertrauenswürdig, wenn diese Liste hinter ihrem Unterzeichner steht. Sie sind nie Teil der Evidenz.</translation>
    </message>
    <message>
        <source>Certificates (*.pem *.crt)</source>
        <translation>Zertifikate (*.pem *.crt)</translation>
    </message>
    <message>
        <source>{n:plural(one certificate|{n:count} certificates)} trusted</source>
        <translation>{n:plural(einem Zertifikat|{n:count} Zertifikaten)} wird vertraut</translation>
    </message>
    <message>
        <source>nobody is trusted</source>
        <translation>niemandem wird vertraut</translation>
    </message>
    <message>
        <source>Decision rule</source>
        <translation>Entscheidungsregel</translation>
    </message>
    <message>
        <source>The policy cannot be read; see the line at the bottom.</source>
        <translation>Die Richtlinie kann nicht gelesen werden; siehe die Zeile ganz unten.</translation>
    </message>
    <message>
        <source>The rule is part of the organisation&apos;s policy file. It is fixed before anything is examined, and every record holds it.</source>
        <translation>Die Regel gehört zur Richtlinie der Organisation. Sie steht fest, bevor etwas untersucht wird, und in jeder Aufzeichnung.</translation>
    </message>
    <message>
        <source>at most 1 in {n:count} texts without the mark</source>
        <translation>höchstens einer von {n:count} Texten ohne die Markierung</translation>
    </message>
    <message>
        <source>Rule</source>
        <translation>Regel</translation>
    </message>
    <message>
        <source>A mark is found</source>
        <translation>Markierung gefunden</translation>
    </message>
    <message>
        <source>from log₁₀ {bound:text} on: {rate:text}</source>
        <translation>ab log₁₀ {bound:text}: {rate:text}</translation>
    </message>
    <message>
        <source>Indication only</source>
        <translation>Nur ein Hinweis</translation>
    </message>
    <message>
        <source>from log₁₀ {bound:text} on</source>
        <translation>ab log₁₀ {bound:text}</translation>
    </message>
    <message>
        <source>Reported at most</source>
        <translation>Höchstens berichtet</translation>
    </message>
    <message>
        <source>quotations of 15 words or more</source>
        <translation>Zitate ab 15 Wörtern</translation>
    </message>
    <message>
        <source>lists of references</source>
        <translation>Literaturverzeichnisse</translation>
    </message>
    <message>
        <source>Left out of examined texts</source>
        <translation>Nicht mit untersucht</translation>
    </message>
    <message>
        <source>Issued payloads</source>
        <translation>Ausgegebene Nutzlasten</translation>
    </message>
    <message>
        <source>share {weight:text} of the prior weight</source>
        <translation>teilen sich {weight:text} des Ausgangsgewichts</translation>
    </message>
    <message>
        <source>Audits</source>
        <translation>Untersuchungen</translation>
    </message>
    <message>
        <source>Begin by itself when a text is dropped and all is there</source>
        <translation>Beginnen von selbst, wenn ein Text abgelegt wird und alles da ist</translation>
    </message>
    <message>
        <source>Own measurements</source>
        <translation>Eigene Messungen</translation>
    </message>
    <message>
        <source>{n:plural(one table|{n:count} tables)} of power</source>
        <translation>{n:plural(eine Tabelle|{n:count} Tabellen)} der Trennschärfe</translation>
    </message>
    <message>
        <source>none: the shipped table counts</source>
        <translation>keine: die mitgelieferte Tabelle zählt</translation>
    </message>
    <message>
        <source>Payloads outside the limits of a profile</source>
        <translation>Nutzlasten außerhalb der Grenzen eines Profils</translation>
    </message>
    <message>
        <source>unknown: the policy states no number of texts a year</source>
        <translation>unbekannt: Die Richtlinie nennt keine Zahl von Texten im Jahr</translation>
    </message>
    <message>
        <source>at most {alarms:text} a year, of {n:count} texts</source>
        <translation>höchstens {alarms:text} im Jahr bei {n:count} Texten</translation>
    </message>
    <message>
        <source>False alarms expected</source>
        <translation>Erwartete Fehlalarme</translation>
    </message>
    <message>
        <source>The settings could not be read, so the defaults are in use. The old file is kept next to the new one as “{file:text}”.</source>
        <translation>Die Einstellungen konnten nicht gelesen werden, daher gelten die üblichen. Die alte Datei liegt neben der neuen als »{file:text}«.</translation>
    </message>
    <message>
        <source>These settings were not valid and have their defaults again: {names:text}. The old file is kept next to the new one as “{file:text}”.</source>
        <translation>Diese Einstellungen waren ungültig und sind wieder wie üblich: {names:text}. Die alte Datei liegt neben der neuen als »{file:text}«.</translation>
    </message>
</context>
<context>
    <name>Setup</name>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Profile</source>
        <translation>Profil</translation>
    </message>
    <message>
        <source>Progress of the installation</source>
        <translation>Fortschritt der Einrichtung</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Open a team bundle …</source>
        <translation>Teampaket öffnen …</translation>
    </message>
    <message>
        <source>Try with the sample</source>
        <translation>Mit dem Beispiel ausprobieren</translation>
    </message>
    <message>
        <source>Set up ours …</source>
        <translation>Eigene einrichten …</translation>
    </message>
    <message>
        <source>A marked text with its public key. The built-in model is fetched once: {size:text}.</source>
        <translation>Ein markierter Text mit öffentlichem Schlüssel. Das mitgelieferte Modell wird einmal geladen: {size:text}.</translation>
    </message>
    <message>
        <source>A colleague sent you a file with key, profile and rules.</source>
        <translation>Jemand aus dem Team hat Ihnen eine Datei mit Schlüssel, Profil und Regeln geschickt.</translation>
    </message>
    <message>
        <source>Looking for the model</source>
        <translation>Das Modell wird gesucht</translation>
    </message>
    <message>
        <source>1 of 3, fetching: {done:text} of {all:text}</source>
        <translation>1 von 3, wird geladen: {done:text} von {all:text}</translation>
    </message>
    <message>
        <source>2 of 3, checking what was fetched</source>
        <translation>2 von 3, das Geladene wird geprüft</translation>
    </message>
    <message>
        <source>3 of 3, preparing it for this computer</source>
        <translation>3 von 3, wird für diesen Rechner vorbereitet</translation>
    </message>
    <message>
        <source>Set up ours</source>
        <translation>Eigene einrichten</translation>
    </message>
    <message>
        <source>Key, model and profile are made together. Whoever marks your texts needs the same key and profile: pass them on as a team bundle.</source>
        <translation>Schlüssel, Modell und Profil entstehen zusammen. Wer Ihre Texte markiert, braucht denselben Schlüssel und dasselbe Profil: Geben Sie beide als Teampaket weiter.</translation>
    </message>
    <message>
        <source>e.g. Our assistant</source>
        <translation>z. B. Unser Assistent</translation>
    </message>
    <message>
        <source>A new key</source>
        <translation>Ein neuer Schlüssel</translation>
    </message>
    <message>
        <source>From a file …</source>
        <translation>Aus einer Datei …</translation>
    </message>
    <message>
        <source>Your own key, and a register of who got which answer.</source>
        <translation>Ihr eigener Schlüssel und ein Register, wer welche Antwort erhalten hat.</translation>
    </message>
    <message>
        <source>One number for each answer</source>
        <translation>Eine Nummer je Antwort</translation>
    </message>
    <message>
        <source>The recipient: customer and date</source>
        <translation>Den Empfänger: Kunde und Datum</translation>
    </message>
    <message>
        <source>The recipient: customer only</source>
        <translation>Den Empfänger: nur den Kunden</translation>
    </message>
    <message>
        <source>Built in ({size:text}, fetched once)</source>
        <translation>Mitgeliefert ({size:text}, einmal geladen)</translation>
    </message>
    <message>
        <source>Convolutional: reads shorter texts</source>
        <translation>Faltungscode: liest kürzere Texte</translation>
    </message>
    <message>
        <source>Parity blocks: as in the paper</source>
        <translation>Paritätsblöcke: wie in der Veröffentlichung</translation>
    </message>
    <message>
        <source>Passphrase of the key file</source>
        <translation>Passphrase der Schlüsseldatei</translation>
    </message>
    <message>
        <source>A mark says</source>
        <translation>Eine Markierung sagt</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Weiteres</translation>
    </message>
    <message>
        <source>Model that reads</source>
        <translation>Modell, das liest</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <source>Bits of a number</source>
        <translation>Bits einer Nummer</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>Einrichten</translation>
    </message>
    <message>
        <source>A number that is drawn at random and used once: 36 bits unless you say otherwise. Your register names the recipient.</source>
        <translation>Eine Nummer, die zufällig gezogen und einmal verwendet wird: 36 Bit, wenn Sie nichts anderes einstellen. Ihr Register nennt den Empfänger.</translation>
    </message>
    <message>
        <source>The number of a customer, up to 1,048,575, and the day: 36 bits.</source>
        <translation>Die Nummer eines Kunden, bis 1.048.575, und der Tag: 36 Bits.</translation>
    </message>
    <message>
        <source>The number of a customer, up to 16,777,215: 24 bits, for shorter texts.</source>
        <translation>Die Nummer eines Kunden, bis 16.777.215: 24 Bits, für kürzere Texte.</translation>
    </message>
    <message>
        <source>With the recipient in the payload, texts in that name can be forged from collected answers, and the text carries personal data.</source>
        <translation>Mit dem Empfänger in der Nutzlast lassen sich aus gesammelten Antworten Texte auf seinen Namen fälschen, und der Text enthält personenbezogene Daten.</translation>
    </message>
    <message>
        <source>File of a key</source>
        <translation>Datei eines Schlüssels</translation>
    </message>
    <message>
        <source>“{name:text}” is set up.</source>
        <translation>»{name:text}« ist eingerichtet.</translation>
    </message>
    <message>
        <source>Try several keys</source>
        <translation>Mehrere Schlüssel versuchen</translation>
    </message>
    <message>
        <source>Every audit tries the ticked keys, and the evidence is the mean over them. Each key that made no mark lowers it a little.</source>
        <translation>Jede Untersuchung versucht die angekreuzten Schlüssel; die Evidenz ist das Mittel über sie. Jeder Schlüssel ohne Markierung senkt sie ein wenig.</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Use these keys</source>
        <translation>Diese Schlüssel verwenden</translation>
    </message>
    <message>
        <source>Save as a set-up</source>
        <translation>Als Einrichtung speichern</translation>
    </message>
    <message>
        <source>Key, profile and model as they are chosen now, to be chosen as one.</source>
        <translation>Schlüssel, Profil und Modell, wie sie jetzt gewählt sind, um sie als Ganzes zu wählen.</translation>
    </message>
    <message>
        <source>Left out of every examined text, as a part of its own that can be examined too:</source>
        <translation>In untersuchten Texten weglassen; das Weggelassene lässt sich als eigener Teil untersuchen:</translation>
    </message>
    <message>
        <source>Quotations of 15 words or more</source>
        <translation>Zitate ab 15 Wörtern</translation>
    </message>
    <message>
        <source>Lists of references</source>
        <translation>Literaturverzeichnisse</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>customer</source>
        <translation>Kunde</translation>
    </message>
    <message>
        <source>date</source>
        <translation>Datum</translation>
    </message>
</context>
<context>
    <name>SideBySide</name>
    <message>
        <source>Two texts are needed. Open the other one as well.</source>
        <translation>Dafür braucht es zwei Texte. Öffnen Sie auch den anderen.</translation>
    </message>
    <message>
        <source>not audited</source>
        <translation>nicht untersucht</translation>
    </message>
    <message>
        <source>Two texts side by side</source>
        <translation>Zwei Texte nebeneinander</translation>
    </message>
    <message>
        <source>First text</source>
        <translation>Erster Text</translation>
    </message>
    <message>
        <source>Second text</source>
        <translation>Zweiter Text</translation>
    </message>
    <message>
        <source>Previous difference</source>
        <translation>Vorige Abweichung</translation>
    </message>
    <message>
        <source>Next difference</source>
        <translation>Nächste Abweichung</translation>
    </message>
    <message>
        <source>Underlined: other words. Framed, or with a line next to it: only in this text. Wedge and hatching: the other text has more here.</source>
        <translation>Unterstrichen: andere Wörter. Eingerahmt oder mit einer Linie daneben: nur in diesem Text. Keil und Schraffur: Hier hat der andere Text mehr.</translation>
    </message>
    <message>
        <source>A text is missing.</source>
        <translation>Ein Text fehlt.</translation>
    </message>
    <message>
        <source>The texts are being aligned …</source>
        <translation>Die Texte werden verglichen …</translation>
    </message>
    <message>
        <source>No word differs.</source>
        <translation>Kein Wort weicht ab.</translation>
    </message>
    <message>
        <source>The texts have no passage of several words in common.</source>
        <translation>Die Texte haben keine Passage von mehreren Wörtern gemeinsam.</translation>
    </message>
    <message>
        <source>{n:plural(One difference|{n:count} differences)}. {first:text} of the first text&apos;s words are in the second, and {second:text} of the second text&apos;s words are in the first, in the same order.</source>
        <translation>{n:plural(Eine Abweichung|{n:count} Abweichungen)}. {first:text} der Wörter des ersten Textes sind im zweiten und {second:text} der Wörter des zweiten im ersten, in derselben Reihenfolge.</translation>
    </message>
    <message>
        <source>{n:plural(One stretch is|{n:count} stretches are)} marked in one of them only.</source>
        <translation>{n:plural(Eine Stelle ist|{n:count} Stellen sind)} nur in einem von beiden markiert.</translation>
    </message>
    <message>
        <source>{n:count} of {all:count}: {what:text}</source>
        <translation>{n:count} von {all:count}: {what:text}</translation>
    </message>
    <message>
        <source>It is being opened.</source>
        <translation>Er wird geöffnet.</translation>
    </message>
    <message>
        <source>This text was not kept. Add its file to the list to see it here.</source>
        <translation>Dieser Text wurde nicht aufbewahrt. Nehmen Sie seine Datei in die Liste auf, um ihn hier zu sehen.</translation>
    </message>
    <message>
        <source>Not audited, so nothing is shaded.</source>
        <translation>Nicht untersucht, daher nicht schattiert.</translation>
    </message>
    <message>
        <source>only in the first text “{first:text}”</source>
        <translation>nur im ersten Text »{first:text}«</translation>
    </message>
    <message>
        <source>only in the second text “{second:text}”</source>
        <translation>nur im zweiten Text »{second:text}«</translation>
    </message>
    <message>
        <source>“{first:text}”, in the second “{second:text}”</source>
        <translation>»{first:text}«, im zweiten »{second:text}«</translation>
    </message>
    <message>
        <source>marked in the first text only “{first:text}”</source>
        <translation>nur im ersten Text markiert »{first:text}«</translation>
    </message>
    <message>
        <source>marked in the second text only “{first:text}”</source>
        <translation>nur im zweiten Text markiert »{first:text}«</translation>
    </message>
</context>
<context>
    <name>SignReport</name>
    <message>
        <source>Sign a report</source>
        <translation>Bericht signieren</translation>
    </message>
    <message>
        <source>Choose a report …</source>
        <translation>Bericht wählen …</translation>
    </message>
    <message>
        <source>Choose a certificate …</source>
        <translation>Zertifikat wählen …</translation>
    </message>
    <message>
        <source>Sign and save …</source>
        <translation>Signieren und speichern …</translation>
    </message>
    <message>
        <source>none chosen</source>
        <translation>keines gewählt</translation>
    </message>
    <message>
        <source>Passphrase of the certificate</source>
        <translation>Passphrase des Zertifikats</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source>Place</source>
        <translation>Ort</translation>
    </message>
    <message>
        <source>Visible seal on a free place at the end</source>
        <translation>Sichtbares Siegel an freier Stelle am Ende</translation>
    </message>
    <message>
        <source>Note it in the case log, and sign the head of the log too</source>
        <translation>Im Fallbuch vermerken und dessen Stand mitsignieren</translation>
    </message>
    <message>
        <source>Time-stamp authority</source>
        <translation>Zeitstempeldienst</translation>
    </message>
    <message>
        <source>empty: no network, time of this computer</source>
        <translation>leer: kein Netz, Zeit dieses Rechners</translation>
    </message>
    <message>
        <source>One signature over the entire file; every later change is named when the report is checked. The certificate is a PKCS#12 file (.p12, .pfx) with its private key.</source>
        <translation>Eine Signatur über die ganze Datei; jede spätere Änderung wird beim Nachprüfen benannt. Das Zertifikat ist eine PKCS#12-Datei (.p12, .pfx) mit dem privaten Schlüssel.</translation>
    </message>
    <message>
        <source>This report is a draft. A signature makes it look finished: choose “Final” in the report window, save it again, and sign that.</source>
        <translation>Dieser Bericht ist ein Entwurf. Mit einer Signatur sieht er fertig aus: Wählen Sie im Berichtsfenster »Endgültig«, speichern Sie ihn neu und signieren Sie den.</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>Bericht</translation>
    </message>
    <message>
        <source>Certificate</source>
        <translation>Zertifikat</translation>
    </message>
    <message>
        <source>Choose another name: the unsigned report stays.</source>
        <translation>Wählen Sie einen anderen Namen: Der unsignierte Bericht bleibt.</translation>
    </message>
    <message>
        <source>Choose a report</source>
        <translation>Bericht wählen</translation>
    </message>
    <message>
        <source>It names {who:text} as examiner.</source>
        <translation>Untersucht hat laut Bericht {who:text}.</translation>
    </message>
    <message>
        <source>Reports (*.pdf)</source>
        <translation>Berichte (*.pdf)</translation>
    </message>
    <message>
        <source>Choose a certificate</source>
        <translation>Zertifikat wählen</translation>
    </message>
    <message>
        <source>Certificates (*.p12 *.pfx)</source>
        <translation>Zertifikate (*.p12 *.pfx)</translation>
    </message>
    <message>
        <source>Save the signed report</source>
        <translation>Signierten Bericht speichern</translation>
    </message>
    <message>
        <source>signed</source>
        <translation>signiert</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <source>“{file:text}” is signed as {who:text}; the certificate is valid until {end:text}.</source>
        <translation>»{file:text}« ist als {who:text} signiert; das Zertifikat gilt bis {end:text}.</translation>
    </message>
</context>
<context>
    <name>Statement</name>
    <message>
        <source>Statement of a detector</source>
        <translation>Aussage eines Detektors</translation>
    </message>
    <message>
        <source>Choose a statement …</source>
        <translation>Aussage wählen …</translation>
    </message>
    <message>
        <source>Trust a key …</source>
        <translation>Schlüssel vertrauen …</translation>
    </message>
    <message>
        <source>Choose its text …</source>
        <translation>Ihren Text wählen …</translation>
    </message>
    <message>
        <source>The text on screen</source>
        <translation>Der Text auf dem Schirm</translation>
    </message>
    <message>
        <source>A detector that was asked by a trusted body signs what it answered. Whether that holds is checked here, without a network.</source>
        <translation>Ein Detektor signiert, was er einer vertrauten Stelle geantwortet hat. Ob das gilt, wird hier ohne Netz geprüft.</translation>
    </message>
    <message>
        <source>or drop the file that the detector gave on this window</source>
        <translation>oder die Datei des Detektors auf dieses Fenster ziehen</translation>
    </message>
    <message>
        <source>None: the statement names its text by a digest.</source>
        <translation>Keiner: Die Aussage nennt ihren Text mit einem Prüfwert.</translation>
    </message>
    <message>
        <source>Statements (*.json *.jws *.txt)</source>
        <translation>Aussagen (*.json *.jws *.txt)</translation>
    </message>
    <message>
        <source>Choose a statement</source>
        <translation>Aussage wählen</translation>
    </message>
    <message>
        <source>Trust a key</source>
        <translation>Schlüssel vertrauen</translation>
    </message>
    <message>
        <source>Choose its text</source>
        <translation>Ihren Text wählen</translation>
    </message>
</context>
<context>
    <name>Status</name>
    <message>
        <source>A model is being installed · no text leaves this computer</source>
        <translation>Ein Modell wird eingerichtet · kein Text verlässt diesen Rechner</translation>
    </message>
    <message>
        <source>Offline · nothing leaves this computer</source>
        <translation>Offline · nichts verlässt diesen Rechner</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>angehalten</translation>
    </message>
    <message>
        <source>{n:count} more, all done in {time:text}</source>
        <translation>{n:count} weitere, alle fertig in {time:text}</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(text|texts)} audited</source>
        <translation>{n:count} {n:plural(Text|Texte)} untersucht</translation>
    </message>
    <message>
        <source>{n:count} could not be</source>
        <translation>{n:count} nicht untersuchbar</translation>
    </message>
    <message>
        <source>{n:count} not saved: use Save to a case (Ctrl+S)</source>
        <translation>{n:count} nicht gesichert: In einem Fall sichern (Strg+S)</translation>
    </message>
    <message>
        <source>kept in the case “Unfiled”</source>
        <translation>aufbewahrt im Fall »Nicht zugeordnet«</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
</context>
<context>
    <name>Steps</name>
    <message>
        <source>Saved</source>
        <translation>Gesichert</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Reviewed</source>
        <translation>Geprüft</translation>
    </message>
    <message>
        <source>Disputed</source>
        <translation>Bestritten</translation>
    </message>
    <message>
        <source>Review</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <source>Draft written</source>
        <translation>Entwurf da</translation>
    </message>
    <message>
        <source>Final</source>
        <translation>Endgültig</translation>
    </message>
    <message>
        <source>Save it to a case</source>
        <translation>In einem Fall sichern</translation>
    </message>
    <message>
        <source>Ask a second person</source>
        <translation>Zweite Person fragen</translation>
    </message>
    <message>
        <source>Make the report</source>
        <translation>Bericht erstellen</translation>
    </message>
    <message>
        <source>Sign the final report</source>
        <translation>Bericht signieren</translation>
    </message>
    <message>
        <source>It has to be saved first.</source>
        <translation>Zuerst muss er gesichert sein.</translation>
    </message>
    <message>
        <source>In the case “{case:text}”</source>
        <translation>Im Fall »{case:text}«</translation>
    </message>
    <message>
        <source>press to file it in another case</source>
        <translation>drücken, um ihn in einem anderen Fall abzulegen</translation>
    </message>
    <message>
        <source>Confirmed</source>
        <translation>Bestätigt</translation>
    </message>
    <message>
        <source>Final report</source>
        <translation>Endgültiger Bericht</translation>
    </message>
    <message>
        <source>It stays a draft: anyone can know the key.</source>
        <translation>Er bleibt ein Entwurf: Den Schlüssel kann jeder kennen.</translation>
    </message>
    <message>
        <source>It is a draft until a second person has confirmed the finding.</source>
        <translation>Er ist ein Entwurf, bis eine zweite Person den Befund bestätigt hat.</translation>
    </message>
    <message>
        <source>There is none yet.</source>
        <translation>Es gibt noch keinen.</translation>
    </message>
    <message>
        <source>(examined by {who:text})</source>
        <translation>(untersucht von {who:text})</translation>
    </message>
    <message>
        <source>by {who:text} on {day:text}</source>
        <translation>von {who:text} am {day:text}</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>Bericht</translation>
    </message>
    <message>
        <source>Signed</source>
        <translation>Signiert</translation>
    </message>
    <message>
        <source>Sign</source>
        <translation>Signieren</translation>
    </message>
</context>
<context>
    <name>Stores</name>
    <message>
        <source>Keep it</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>This begins when the audits are done.</source>
        <translation>Das beginnt, wenn die Untersuchungen fertig sind.</translation>
    </message>
</context>
<context>
    <name>Text</name>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Legend: blue supports the payload, orange with a dotted line speaks against it</source>
        <translation>Legende: Blau stützt die Nutzlast, Orange mit gepunkteter Linie spricht gegen sie</translation>
    </message>
    <message>
        <source>supports the payload</source>
        <translation>stützt die Nutzlast</translation>
    </message>
    <message>
        <source>Legend: blue speaks for the mark, orange with a dotted line speaks against it</source>
        <translation>Legende: Blau spricht für die Markierung, Orange mit gepunkteter Linie dagegen</translation>
    </message>
    <message>
        <source>speaks against it (dotted)</source>
        <translation>spricht gegen sie (gepunktet)</translation>
    </message>
    <message>
        <source>carries no evidence</source>
        <translation>trägt keine Anhaltspunkte</translation>
    </message>
    <message>
        <source>left out by a rule</source>
        <translation>nach einer Regel weggelassen</translation>
    </message>
    <message>
        <source>Show shading</source>
        <translation>Schattierung zeigen</translation>
    </message>
    <message>
        <source>Find in the text (Ctrl+F)</source>
        <translation>Im Text suchen (Strg+F)</translation>
    </message>
    <message>
        <source>How the document is shown</source>
        <translation>Wie das Dokument gezeigt wird</translation>
    </message>
    <message>
        <source>Page</source>
        <translation>Seite</translation>
    </message>
    <message>
        <source>Not shaded, since nothing was found.</source>
        <translation>Nicht schattiert, da nichts gefunden wurde.</translation>
    </message>
    <message>
        <source>A PDF is shown as it was printed; this file as its text.</source>
        <translation>Ein PDF wird gezeigt, wie es gedruckt ist; diese Datei als Text.</translation>
    </message>
    <message>
        <source>Hide shading</source>
        <translation>Schattierung ausblenden</translation>
    </message>
    <message>
        <source>{script:text}, {n:count} {n:plural(character|characters)}</source>
        <translation>{script:text}, {n:count} Zeichen</translation>
    </message>
    <message>
        <source>No font of this computer has: {scripts:text}.</source>
        <translation>Keine Schrift dieses Rechners hat: {scripts:text}.</translation>
    </message>
    <message>
        <source>{name:text} ({n:count})</source>
        <translation>{name:text} ({n:count})</translation>
    </message>
    <message>
        <source>Hidden characters, shown as signs: {names:text}.</source>
        <translation>Verborgene Zeichen, als Zeichen dargestellt: {names:text}.</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(more kind|more kinds)}</source>
        <translation>{n:count} weitere {n:plural(Art|Arten)}</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(character|characters)}</source>
        <translation>{n:count} Zeichen</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(token|tokens)}</source>
        <translation>{n:count} Token</translation>
    </message>
    <message>
        <source>{read:count} of {n:count} tokens read, the rest is grey</source>
        <translation>{read:count} von {n:count} Token gelesen, der Rest ist grau</translation>
    </message>
    <message>
        <source>{n:count} carry bits</source>
        <translation>{n:count} tragen Bits</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(counts|count)}</source>
        <translation>{n:count} {n:plural(zählt|zählen)}</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(mark|marks)}</source>
        <translation>{n:count} {n:plural(Markierung|Markierungen)}</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(passage|passages)}</source>
        <translation>{n:count} {n:plural(Passage|Passagen)}</translation>
    </message>
    <message>
        <source>{n:count} {n:plural(piece|pieces)} left out (hatched)</source>
        <translation>{n:count} {n:plural(Stelle|Stellen)} weggelassen (schraffiert)</translation>
    </message>
    <message>
        <source>speaks against the payload</source>
        <translation>spricht gegen die Nutzlast</translation>
    </message>
    <message>
        <source>speaks against the mark</source>
        <translation>spricht gegen die Markierung</translation>
    </message>
    <message>
        <source>Token {n:text} of {all:text}, “{token:text}”, {word:text}</source>
        <translation>Token {n:text} von {all:text}, »{token:text}«, {word:text}</translation>
    </message>
    <message>
        <source>Left out of the examined text by a rule</source>
        <translation>Nach einer Regel nicht mit untersucht</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy the passage</source>
        <translation>Passage kopieren</translation>
    </message>
    <message>
        <source>Choose all</source>
        <translation>Alles auswählen</translation>
    </message>
    <message>
        <source>speaks for the mark</source>
        <translation>spricht für die Markierung</translation>
    </message>
    <message>
        <source>The whole text</source>
        <translation>Der ganze Text</translation>
    </message>
    <message>
        <source>No passage is marked.</source>
        <translation>Keine Passage ist markiert.</translation>
    </message>
    <message>
        <source>{n:plural(One passage is|{n:count} passages are)} marked; the first begins at {share:text} % of the text.</source>
        <translation>{n:plural(Eine Passage ist|{n:count} Passagen sind)} markiert; die erste beginnt bei {share:text} % des Textes.</translation>
    </message>
    <message>
        <source>{share:text} % of the text</source>
        <translation>{share:text} % des Textes</translation>
    </message>
    <message>
        <source>mark {n:text}</source>
        <translation>Markierung {n:text}</translation>
    </message>
</context>
<context>
    <name>Unconfined</name>
    <message>
        <source>Files from others</source>
        <translation>Dateien anderer</translation>
    </message>
    <message>
        <source>Read files that are no plain text on this computer?</source>
        <translation>Dateien, die kein reiner Text sind, auf diesem Rechner lesen?</translation>
    </message>
    <message>
        <source>They are read in a process of their own, which this system does not confine: code hidden in one would run with your rights. Read files from strangers on Linux, or convert them to plain text on another computer.</source>
        <translation>Sie werden in einem eigenen Prozess gelesen, den dieses System nicht einschränkt: Darin versteckter Code liefe mit Ihren Rechten. Lesen Sie Dateien Fremder unter Linux, oder wandeln Sie sie auf einem anderen Rechner in reinen Text um.</translation>
    </message>
    <message>
        <source>Read them</source>
        <translation>Lesen</translation>
    </message>
    <message>
        <source>Do not read them</source>
        <translation>Nicht lesen</translation>
    </message>
</context>
<context>
    <name>Units</name>
    <message>
        <source>{n:text} s</source>
        <translation>{n:text} s</translation>
    </message>
    <message>
        <source>{n:text} min</source>
        <translation>{n:text} min</translation>
    </message>
    <message>
        <source>{n:text} h</source>
        <translation>{n:text} h</translation>
    </message>
</context>
<context>
    <name>Window</name>
    <message>
        <source>A second start will not find this window and opens one of its own. Make “{folder:text}” a folder that only you can enter, then start again.</source>
        <translation>Ein zweiter Start findet dieses Fenster nicht und öffnet ein eigenes. Machen Sie »{folder:text}« zu einem Ordner, den nur Sie betreten dürfen, und starten Sie dann neu.</translation>
    </message>
    <message>
        <source>The program crashed last time; what it left is in the log folder.</source>
        <translation>Das Programm ist beim letzten Mal abgestürzt; was es hinterlassen hat, liegt im Protokollordner.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>What is finished is kept in the case “Unfiled”. The list comes back at the next start, and the audit that is cancelled can be begun again there.</source>
        <translation>Was fertig ist, liegt im Fall »Nicht zugeordnet«. Die Liste kommt beim nächsten Start zurück, und die abgebrochene Prüfung kann dort neu begonnen werden.</translation>
    </message>
    <message>
        <source>{n:plural(One finding is|{n:count} findings are)} not in the case log and {n:plural(is|are)} lost when the window closes. Save to a case first (Ctrl+S).</source>
        <translation>{n:plural(Ein Befund steht|{n:count} Befunde stehen)} nicht im Fallbuch und {n:plural(geht|gehen)} verloren, wenn das Fenster schließt. Sichern Sie zuerst in einem Fall (Strg+S).</translation>
    </message>
    <message>
        <source>A model that is not fetched to its end is not installed; nothing of it is used.</source>
        <translation>Ein Modell, das nicht zu Ende geladen ist, wird nicht eingerichtet; nichts davon wird benutzt.</translation>
    </message>
    <message>
        <source>Cancel it and close</source>
        <translation>Abbrechen und schließen</translation>
    </message>
    <message>
        <source>An audit is running, and a model is being installed.</source>
        <translation>Eine Untersuchung läuft, und ein Modell wird eingerichtet.</translation>
    </message>
    <message>
        <source>An audit is running.</source>
        <translation>Eine Untersuchung läuft.</translation>
    </message>
    <message>
        <source>A model is being installed.</source>
        <translation>Ein Modell wird eingerichtet.</translation>
    </message>
    <message>
        <source>Not everything is saved.</source>
        <translation>Nicht alles ist gesichert.</translation>
    </message>
    <message>
        <source>Close and lose it</source>
        <translation>Schließen und verlieren</translation>
    </message>
    <message>
        <source>Stay</source>
        <translation>Bleiben</translation>
    </message>
    <message>
        <source>A report</source>
        <translation>Ein Bericht</translation>
    </message>
    <message>
        <source>“{file:text}” carries the record of a report of PURA Audit.</source>
        <translation>»{file:text}« trägt das Protokoll eines Berichts von PURA Audit.</translation>
    </message>
    <message>
        <source>Check whether it is unaltered? As a text it is in the list, too.</source>
        <translation>Prüfen, ob er unverändert ist? Als Text steht er auch in der Liste.</translation>
    </message>
    <message>
        <source>Check the report</source>
        <translation>Den Bericht prüfen</translation>
    </message>
    <message>
        <source>Keep it as a text</source>
        <translation>Als Text behalten</translation>
    </message>
    <message>
        <source>Open texts</source>
        <translation>Texte öffnen</translation>
    </message>
    <message>
        <source>There is no text on the clipboard.</source>
        <translation>In der Zwischenablage ist kein Text.</translation>
    </message>
    <message>
        <source>Cancelled: “{name:text}”.</source>
        <translation>Abgebrochen: »{name:text}«.</translation>
    </message>
    <message>
        <source>“{name:text}” is being audited. Once more cancels it.</source>
        <translation>»{name:text}« wird gerade untersucht. Noch einmal bricht es ab.</translation>
    </message>
</context>
</TS>
