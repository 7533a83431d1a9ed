/**
 * Completion as a person meets it: in bash and zsh on a pseudo-terminal, by the tabulator; in fish
 * by what it says that it would offer. Each shell has the script that the program prints.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { converseWith, needsScript, type Step } from '../support/cli/pseudo-terminal.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { builtApp } from '../world/process.js'
import { World, type Placed } from '../world/world.js'

const lacks = (shell: string): string | false =>
  (spawnSync(shell, ['-c', 'true']).status === 0 ? false : `needs the program ${shell}`)

/** A state with one goal, a file and a folder, and the program where a shell finds it. */
const atShell = async (t: Test, shell: string) => {
  const world = await World.in(t).state({ owner: 'ada' }).session()
  const { place } = world
  const [goal, ...others] = await world.json(['goal', 'list'])
  t.strictSame(others, [], 'one goal alone completes')
  const bin = place.path('bin')
  mkdirSync(bin)
  const program = join(bin, 'sallyport')
  writeFileSync(program,
    `#!/bin/sh\nexec '${process.execPath}' '${join(await builtApp(), 'sallyport.js')}' "$@"\n`)
  chmodSync(program, 0o755)
  place.write('my receipt.json', '{}')
  mkdirSync(place.path('site-folder'))
  const script = place.write('script', must(await place.run(['completion', shell])).stdout)
  // What is completed is of the state that the line names.
  const env = {
    ...place.env, PATH: `${bin}:${place.env['PATH'] ?? ''}`, PS1: '$ ',
    SALLYPORT_STATE_DIR: place.path('none'), SALLYPORT_CONFIG_DIR: place.path('no-keys'),
  }
  const { stateDir, configDir } = place
  const flags = `--state-dir ${stateDir} --config-dir ${configDir}`
  return { at: { ...world, place: { ...place, env } }, script, lines: begun(goal.id, flags) }
}

const [tab, clear] = ['\t', '\u0015']

/** A line that is begun, and what stands behind it once it is completed. */
type Begun = readonly [line: string, completed: string]

/** What each shell has to complete, for a goal and the folders of its state. */
const begun = (goal: string, flags: string): readonly Begun[] => [
  [`sallyport ${flags} goal show go`, goal.slice(2)],
  [`sallyport task list ${flags} --goal go`, goal.slice(2)],
  [`sallyport explain ${flags} ${goal.slice(0, 9)}`, goal.slice(9)],
  ['sallyport receipt verify my', 'receipt.json'],
  ['sallyport codehost publish si', 'te-folder/'],
  ['sallyport alpha setup --api-key-file my', 'receipt.json'],
  ['sallyport help mon', 'ey'],
  ['sallyport help prin', 'cipal'],
  ['sallyport help principal dis', 'able'],
  ['sallyport codehost recover adop', 't'],
  ['sallyport help codehost recover disc', 'ard'],
]

/** Types each line with a tabulator behind it, and goes on once it is completed. */
const typedAt = async (
  t: Test, at: Placed, shell: string, ready: string, lines: readonly Begun[],
): Promise<void> => {
  const steps: readonly Step[] = [
    { at: '$', keys: ready },
    ...lines.map(([line], n): Step => ({
      at: n === 0 ? 'READY' : lines[n - 1]?.[1] ?? '', keys: `${n === 0 ? '' : clear}${line}${tab}`,
    })),
    { at: lines.at(-1)?.[1] ?? '', keys: `${clear}exit\r` },
  ]
  const { status, shown } = await converseWith(t, at, `sh -c 'stty cols 400; exec ${shell}'`, steps)
  t.equal(status, 0, shown)
}

t.test('bash completes ids, files, folders and what `help` explains', {
  skip: needsScript || lacks('bash'),
}, async (t) => {
  const { at, script, lines } = await atShell(t, 'bash')
  await typedAt(t, at, 'bash --norc --noprofile -i', `. '${script}'; echo READ''Y\r`, lines)
})

t.test('zsh completes ids, files, folders and what `help` explains', {
  skip: needsScript || lacks('zsh'),
}, async (t) => {
  const { at, script, lines } = await atShell(t, 'zsh')
  await typedAt(t, at, 'zsh -f -i',
    `autoload -U compinit; compinit -u -D; . '${script}'; echo READ''Y\r`, lines)
})

t.test('fish completes ids, files, folders and what `help` explains', {
  skip: lacks('fish'),
}, async (t) => {
  const { at: { place }, script, lines } = await atShell(t, 'fish')
  for (const [line, completed] of lines) {
    const { stdout, stderr } = spawnSync('fish', [
      '--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', script, line,
    ], { cwd: place.cwd, env: place.env, encoding: 'utf8' })
    t.equal(stderr, '', line)
    const [word = ''] = line.split(' ').slice(-1)
    const offered = stdout.split('\n').map((one) => one.split('\t')[0] ?? '').filter(Boolean)
    t.equal(offered.length, 1, `${line}: ${stdout}`)
    t.ok(offered[0]?.startsWith(word) && offered[0].endsWith(completed), `${line}: ${stdout}`)
  }
})
