; The installer for Windows; build.ps1 calls it with the version.
;
; In silence: pura-audit-VERSION-windows-x86_64.exe /VERYSILENT /ALLUSERS (or /CURRENTUSER)
; Removal leaves keys, models, settings and the case log where they are.
#ifndef Version
  #error Call build.ps1, which gives the version.
#endif

[Setup]
AppId=org.puraaudit.Audit
AppName=PURA Audit
AppVersion={#Version}
AppPublisher=The PURA Audit developers
SourceDir=..\..\dist\windows\pura-audit
OutputBaseFilename=pura-audit-{#Version}-windows-x86_64
DefaultDirName={autopf}\PURA Audit
DefaultGroupName=PURA Audit
DisableProgramGroupPage=yes
LicenseFile=share\doc\pura-audit\LICENSE
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog commandline
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
Compression=lzma2/normal
SolidCompression=yes
ChangesEnvironment=yes
UninstallDisplayIcon={app}\pura-audit.exe
WizardStyle=modern

[Languages]
Name: "english"; MessagesFile: "compiler:Default.isl"
Name: "german"; MessagesFile: "compiler:Languages\German.isl"

[CustomMessages]
english.CommandLine=Let every command prompt find the command “pura”
german.CommandLine=Jede Eingabeaufforderung findet den Befehl „pura“

[Tasks]
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked
Name: "path"; Description: "{cm:CommandLine}"; Flags: unchecked

[InstallDelete]
; A part that the version before had must not be found by the new one.
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{group}\PURA Audit"; Filename: "{app}\pura-audit.exe"
Name: "{autodesktop}\PURA Audit"; Filename: "{app}\pura-audit.exe"; Tasks: desktopicon

[Registry]
Root: HKA; Subkey: "Software\Microsoft\Windows\CurrentVersion\App Paths\pura.exe"; \
  ValueType: string; ValueData: "{app}\pura.exe"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Applications\pura-audit.exe\shell\open\command"; \
  ValueType: string; ValueData: """{app}\pura-audit.exe"" ""%1"""; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Applications\pura-audit.exe"; \
  ValueName: "FriendlyAppName"; ValueType: string; ValueData: "PURA Audit"

[Code]
const
  EnvironmentForAll = 'SYSTEM\CurrentControlSet\Control\Session Manager\Environment';

function PathRoot: Integer;
begin
  if IsAdminInstallMode then Result := HKEY_LOCAL_MACHINE else Result := HKEY_CURRENT_USER;
end;

function PathKey: String;
begin
  if IsAdminInstallMode then Result := EnvironmentForAll else Result := 'Environment';
end;

procedure CurStepChanged(CurStep: TSetupStep);
var
  Path: String;
begin
  if (CurStep <> ssPostInstall) or not WizardIsTaskSelected('path') then exit;
  if not RegQueryStringValue(PathRoot, PathKey, 'Path', Path) then Path := '';
  if Pos(';' + Lowercase(ExpandConstant('{app}')) + ';', ';' + Lowercase(Path) + ';') = 0 then
    RegWriteExpandStringValue(PathRoot, PathKey, 'Path', Path + ';' + ExpandConstant('{app}'));
end;

procedure CurUninstallStepChanged(CurUninstallStep: TUninstallStep);
var
  Path, Ours: String;
  Place: Integer;
begin
  if CurUninstallStep <> usPostUninstall then exit;
  if not RegQueryStringValue(PathRoot, PathKey, 'Path', Path) then exit;
  Ours := ';' + ExpandConstant('{app}');
  Place := Pos(Lowercase(Ours) + ';', Lowercase(Path) + ';');
  if Place = 0 then exit;
  Delete(Path, Place, Length(Ours));
  RegWriteExpandStringValue(PathRoot, PathKey, 'Path', Path);
end;
