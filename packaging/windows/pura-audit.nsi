; The installer for Windows; build.sh calls makensis with what it takes.
;
; In silence: pura-audit-VERSION-windows-x86_64.exe /S [/ALLUSERS] [/D=C:\Folder]
; Removal: "uninstall.exe" /S in the folder. Keys, models, settings and the case log stay.
!ifndef VERSION
  !error "Call build.sh, which says what goes in."
!endif
Target amd64-unicode
SetCompressor lzma
!include FileFunc.nsh
!include MUI2.nsh
!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\org.puraaudit.Audit"

Name "PURA Audit"
OutFile "${SETUP}"
RequestExecutionLevel user
ManifestDPIAware true
InstallDir "$LOCALAPPDATA\Programs\PURA Audit"
BrandingText "PURA Audit ${VERSION}"

!define MUI_ICON "${APP}\app.ico"
!define MUI_UNICON "${APP}\app.ico"
!insertmacro MUI_PAGE_LICENSE "${APP}\share\doc\pura-audit\LICENSE"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "German"
LangString CommandLine ${LANG_ENGLISH} "PURA command line"
LangString CommandLine ${LANG_GERMAN} "PURA-Befehlszeile"

!macro ForWhom un
Function ${un}ForWhom
  SetRegView 64
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/ALLUSERS" $1
  IfErrors done
  SetShellVarContext all
  StrCpy $2 "all"
done:
FunctionEnd
!macroend
!insertmacro ForWhom ""
!insertmacro ForWhom "un."

Function .onInit
  Call ForWhom
  StrCmp $2 "all" 0 +3
  StrCmp $INSTDIR "$LOCALAPPDATA\Programs\PURA Audit" 0 +2
  StrCpy $INSTDIR "$PROGRAMFILES64\PURA Audit"
FunctionEnd

Function un.onInit
  Call un.ForWhom
  ReadRegStr $0 HKLM "${KEY}" "InstallLocation"
  StrCmp $0 $INSTDIR 0 +2
  SetShellVarContext all
FunctionEnd

Section
  ; A part that the version before had must not be found by this one.
  RMDir /r "$INSTDIR\site"
  SetOutPath "$INSTDIR"
  File /r "${APP}\*"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateDirectory "$SMPROGRAMS\PURA Audit"
  CreateShortcut "$SMPROGRAMS\PURA Audit\PURA Audit.lnk" "$INSTDIR\pura-audit.exe" "" "$INSTDIR\app.ico"
  CreateShortcut "$SMPROGRAMS\PURA Audit\$(CommandLine).lnk" "$SYSDIR\cmd.exe" \
    '/k set "PATH=$INSTDIR;%PATH%"' "$INSTDIR\app.ico"
  WriteRegStr SHCTX "Software\Microsoft\Windows\CurrentVersion\App Paths\pura.exe" "" "$INSTDIR\pura.exe"
  WriteRegStr SHCTX "Software\Classes\Applications\pura-audit.exe\shell\open\command" "" \
    '"$INSTDIR\pura-audit.exe" "%1"'
  WriteRegStr SHCTX "Software\Classes\Applications\pura-audit.exe" "FriendlyAppName" "PURA Audit"
  WriteRegStr SHCTX "${KEY}" "DisplayName" "PURA Audit"
  WriteRegStr SHCTX "${KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr SHCTX "${KEY}" "Publisher" "The PURA Audit developers"
  WriteRegStr SHCTX "${KEY}" "DisplayIcon" "$INSTDIR\app.ico"
  WriteRegStr SHCTX "${KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr SHCTX "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr SHCTX "${KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
SectionEnd

Section Uninstall
  RMDir /r "$INSTDIR\site"
  RMDir /r "$INSTDIR\share"
  !include "${FILES}"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  RMDir /r "$SMPROGRAMS\PURA Audit"
  DeleteRegKey SHCTX "Software\Microsoft\Windows\CurrentVersion\App Paths\pura.exe"
  DeleteRegKey SHCTX "Software\Classes\Applications\pura-audit.exe"
  DeleteRegKey SHCTX "${KEY}"
SectionEnd
