# PowerShell completion for sayso.
#
# Load it with: sayso completions powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName sayso -ScriptBlock {
    param($word, $line, $cursor)
    $before = @($line.CommandElements |
        Where-Object { $_.Extent.EndOffset -lt $cursor -or ($word -eq '' -and $_.Extent.EndOffset -le $cursor) } |
        Select-Object -Skip 1 |
        ForEach-Object { $_.Extent.Text.Trim('"', "'") })
    & (Get-Command -Name sayso -CommandType Application | Select-Object -First 1) `
        __complete "--word=$word" -- @before 2>$null |
        ForEach-Object {
            $value, $about = $_ -split "`t", 2
            # An empty value asks for paths, which PowerShell offers by itself.
            if ($value -ne '') {
                $text = if ($value -match '[\s,@]') { "'$value'" } else { $value }
                $tip = if ($about) { $about } else { $value }
                [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $tip)
            }
        }
}
