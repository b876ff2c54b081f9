# fish completion for sayso.
#
# Load it with: sayso completions fish | source
# or put this file into ~/.config/fish/completions.

function __sayso_complete
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    for line in (command sayso __complete "--word=$word" -- $before[2..-1] 2>/dev/null)
        switch $line
            case \tdirectories
                __fish_complete_directories "$word" ''
            case \tfiles
                __fish_complete_path "$word" ''
            case '*'
                echo $line
        end
    end
end

complete -c sayso -f -k -a '(__sayso_complete)'
