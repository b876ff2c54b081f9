# elvish completion for sayso.
#
# Load it with: eval (sayso completions elvish | slurp)

use str

set edit:completion:arg-completer[sayso] = {|@words|
    var word = $words[-1]
    var before = $words[1..-1]
    try {
        (external sayso) __complete --word=$word -- $@before 2>/dev/null
    } catch {
        nop
    } | from-lines | each {|line|
        var value about = (str:split &max=2 "\t" $line)
        if (eq $value '') {
            edit:complete-filename $word
        } elif (eq $about '') {
            edit:complex-candidate $value
        } else {
            edit:complex-candidate $value &display=$value'  -- '$about
        }
    }
}
