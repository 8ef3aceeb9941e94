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
$scratch = (New-Item -ItemType Directory -Path (Join-Path ([IO.Path]::GetTempPath()) "stan-$([Guid]::NewGuid())")).FullName
try {
    function Get-ReleaseFile([string] $Name) {
        $file = Join-Path $scratch $Name
        if ($From -match '^https?://') { Invoke-WebRequest -Uri "$From/$Name" -OutFile $file }
        else { Copy-Item -LiteralPath (Join-Path $From $Name) -Destination $file }
        $file
    }
    $name = "stan-$target.tar.gz"
    $archive = Get-ReleaseFile $name
    $sums = Get-ReleaseFile "SHA256SUMS-$target"
    # A line is the digest, two spaces and the name.
    $line = @(Get-Content -LiteralPath $sums | Where-Object { $_ -match "^[0-9a-f]{64} [ *]$([regex]::Escape($name))$" })
    if ($line.Count -ne 1) { throw "The list of checksums does not name $name." }
    $expected = $line[0].Substring(0, 64)
    $found = (Get-FileHash -Algorithm SHA256 -LiteralPath $archive).Hash.ToLowerInvariant()
    if ($found -ne $expected) { throw "The checksum of $name is $found, and should be $expected; nothing was installed." }
    tar -xzf $archive -C $scratch
    if ($LASTEXITCODE -ne 0) { throw "$name cannot be unpacked." }
    New-Item -ItemType Directory -Force -Path $To | Out-Null
    foreach ($program in 'stan', 'x07') {
        $fresh = Join-Path $To ".$program.new"
        Copy-Item -LiteralPath (Join-Path $scratch "stan-$target/$program") -Destination $fresh
        chmod 755 $fresh
        Move-Item -Force -LiteralPath $fresh -Destination (Join-Path $To $program)
    }
    "installed $(& (Join-Path $To 'stan') --version) in $To"
}
finally {
    Remove-Item -Recurse -Force -LiteralPath $scratch
}
