/** `sallyport completion SHELL`: prints a completion script. */
import { Argument } from 'commander'
import { fail } from '../../../base/errors.js'
import { completionScript, shells, type Shell } from '../../completion/scripts.js'
import { offered } from '../../flags.js'
import { describeNouns, describeTree } from '../../tree.js'
import type { VerbRecord } from '../../verb.js'

type CompletionOptions = { readonly shell: Shell }

const shellArgument = (): Argument => {
  const argument = offered(new Argument('<shell>', shells.join(', ')), shells)
  return argument.argParser((word) => {
    if ((shells as readonly string[]).includes(word)) return word
    throw fail.rejected('unknown_shell', `The shell is one of ${shells.join(', ')}.`)
  })
}

export const completion: VerbRecord<CompletionOptions, string> = {
  summary: 'print a completion script for a shell',
  description: 'Prints a script that completes commands and flags in bash, zsh or fish.',
  examples: [
    '$ sallyport completion bash > ~/.local/share/bash-completion/completions/sallyport',
    '$ sallyport completion zsh > ~/.zfunc/_sallyport',
    '$ sallyport completion fish > ~/.config/fish/completions/sallyport.fish',
  ],
  damage: 'unasked',
  exits: ['rejected'],
  json: null,
  flags: (command) => command.addArgument(shellArgument()),
  text: (script) => ({ out: script, exact: true }),
  run: async ({ shell }, deps) =>
    completionScript(shell, await describeTree(deps), describeNouns(deps)),
}
