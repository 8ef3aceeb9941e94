<#
.SYNOPSIS
Installs the programs stan and x07 from a release: gets the archive for this machine, compares its SHA-256 with the list of the
release, and puts the programs into a folder. For PowerShell 7 on Linux and macOS; on Windows use WSL.
.PARAMETER From
Where the release is: an address or a folder. A release's own copy of this script knows.
.PARAMETER To
Where the programs go. Default: ~/.local/bin
#>
param(
    [string] $From = '@RELEASES@',
    [string] $To = (Join-Path $HOME '.local/bin')
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'

if ($From.StartsWith('@')) { throw 'This copy of the script does not know a release; say where it is with -From.' }
if ($PSVersionTable.PSVersion.Major -lt 6 -or $IsWindows) {
    throw 'There is no program for Windows yet. Install it in WSL: wsl sh install.sh'
}
$system = if ($IsMacOS) { 'darwin' } else { 'linux' }
$machine = switch ([Runtime.InteropServices.RuntimeInformation]::OSArchitecture.ToString()) {
    'X64' { 'x64' }
    'Arm64' { 'arm64' }
    default { throw "There is no program for $_." }
}
$target = "$system-$machine"
$scratch = New-Item -ItemType Directory -Path (Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid()))
try {
    function Get-ReleaseFile([string] $Name) {
        $file = Join-Path $scratch $Name
        if ($From -match '^https?://') { Invoke-WebRequest -Uri "$From/$Name" -OutFile $file }
        else { Copy-Item -Path (Join-Path $From $Name) -Destination $file }
        $file
    }
    $name = "stan-$target.tar.gz"
    $archive = Get-ReleaseFile $name
    $sums = Get-ReleaseFile "SHA256SUMS-$target"
    $line = Get-Content $sums | Where-Object { ($_ -split '\s+')[1] -eq $name }
    if (-not $line) { throw "The list of checksums does not name $name." }
    $expected = ($line -split '\s+')[0]
    $found = (Get-FileHash -Algorithm SHA256 -Path $archive).Hash.ToLowerInvariant()
    if ($found -ne $expected) { throw "The checksum of $name is $found, and should be $expected; nothing was installed." }
    tar -xzf $archive -C $scratch
    if ($LASTEXITCODE -ne 0) { throw "$name cannot be unpacked." }
    New-Item -ItemType Directory -Force -Path $To | Out-Null
    foreach ($program in 'stan', 'x07') {
        $fresh = Join-Path $To ".$program.new"
        Copy-Item -Path (Join-Path $scratch "stan-$target/$program") -Destination $fresh
        chmod 755 $fresh
        Move-Item -Force -Path $fresh -Destination (Join-Path $To $program)
    }
    "installed $(& (Join-Path $To 'stan') --version) in $To"
}
finally {
    Remove-Item -Recurse -Force $scratch
}
