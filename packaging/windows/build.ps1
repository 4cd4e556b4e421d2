# Build the application for Windows, prove it, and make its installer in dist\packages.
#
#     powershell -File packaging\windows\build.ps1 [-Sign THUMBPRINT]
#
# Asks for Python 3.11 or newer (py or python) and Inno Setup 6 (ISCC). With -Sign the programs and
# the installer are signed with that certificate of the user's store (signtool of the Windows SDK).
param([string]$Sign = "")
$ErrorActionPreference = "Stop"
$root = (Resolve-Path "$PSScriptRoot\..\..").Path
Set-Location $root

function Find-Program([string[]]$names) {
    foreach ($name in $names) {
        $there = Get-Command $name -ErrorAction SilentlyContinue
        if ($there) { return $there.Source }
    }
    throw "Missing: $($names -join ' or ')"
}
function Invoke-Checked([string]$program) {
    & $program @args
    if ($LASTEXITCODE -ne 0) { throw "$program ended with $LASTEXITCODE" }
}
function Add-Signature([string[]]$files) {
    if ($Sign -eq "") { return }
    $signtool = Find-Program @("signtool.exe")
    Invoke-Checked $signtool sign /sha1 $Sign /fd SHA256 /tr "http://timestamp.digicert.com" /td SHA256 @files
}

# What would end the build after minutes is asked first.
$python = Find-Program @("python.exe", "py.exe")
$iscc = Find-Program @("ISCC.exe", "${env:ProgramFiles(x86)}\Inno Setup 6\ISCC.exe")
$version = [regex]::Match((Get-Content core\pura\version.py -Raw), '__version__ = "(.+)"').Groups[1].Value

Invoke-Checked $python packaging\build.py
Add-Signature @("dist\windows\pura-audit\pura.exe", "dist\windows\pura-audit\pura-audit.exe")
New-Item -ItemType Directory -Force dist\packages | Out-Null
Invoke-Checked $iscc "/DVersion=$version" "/O$root\dist\packages" packaging\windows\pura-audit.iss
$setup = "dist\packages\pura-audit-$version-windows-x86_64.exe"
Add-Signature @($setup)

# The installer itself: in silence into an empty place, as an administrator would; then away again.
$place = Join-Path $env:TEMP "pura-audit-proof"
Start-Process -Wait $setup -ArgumentList "/VERYSILENT", "/SUPPRESSMSGBOXES", "/CURRENTUSER", "/DIR=$place"
Invoke-Checked "$place\pura.exe" --version
Invoke-Checked "$place\pura.exe" -m pura_audit.tools.packaged_check prove "$place-work"
Start-Process -Wait "$place\unins000.exe" -ArgumentList "/VERYSILENT"
if (Test-Path "$place\pura.exe") { throw "The program is still there after its removal." }
Write-Output "All held: $setup"
