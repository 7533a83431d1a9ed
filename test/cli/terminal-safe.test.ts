/** Nothing that others wrote reaches a terminal as a control character, whichever way it takes. */
import t from 'tap'
import { fail } from '../../src/base/errors.js'
import type { processIo } from '../../src/cli/io.js'
import { tell } from '../../src/cli/output.js'
import { terminalSafe } from '../../src/cli/text.js'
import { World } from '../world/world.js'
import { fakeCommands, type Act } from '../support/cli/fake-verbs.js'

const hostile = 'a\u001b]0;title\u0007b\u009b31mc\u202ed\u0000'
const drives =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
const terminal = { stdin: true, stdout: true, stderr: true }

const runWith = (t: { teardown(fn: () => void): void }, act: Act, argv: string[] = []) =>
  World.in(t).place.run(['thing', 'do', ...argv], { commands: fakeCommands(act), terminal })

t.test('results, notes and failures are escaped on a terminal, colours stay', async (t) => {
  const shown = await runWith(t, async (_options, deps) => {
    deps.note(hostile)
    return `${deps.view.paint('red', 'red')} ${hostile}`
  })
  t.match(shown.stdout, /^\u001b\[31mred\u001b\[39m a/)
  t.notMatch(shown.stdout.replace(/\u001b\[\d+m/g, ''), drives)
  t.notMatch(shown.stderr, drives)
  t.match(shown.stderr, 'a\\u001b]0;title')

  const beside = await runWith(t, async () => ({ out: 'plain', notes: [hostile] }))
  t.equal(beside.stdout, 'plain')
  t.match(beside.stderr, 'a\\u001b]0;title')
  t.notMatch(beside.stderr, drives)

  const failed = await runWith(t, async () => {
    throw fail.remote('x', hostile, { next: hostile })
  })
  t.equal(failed.status, 9)
  t.notMatch(failed.stderr, drives)
  const defect = await runWith(t, async () => { throw new Error(hostile) })
  t.notMatch(defect.stderr, drives)
})

t.test('JSON means the same text and holds no character that drives a terminal', async (t) => {
  const shown = await runWith(t, async () => ({ hostile, line: 'a\nb\tc' }), ['--json'])
  t.notMatch(shown.stdout, drives)
  t.strictSame(shown.json(), { hostile, line: 'a\nb\tc' })
  const failed = await runWith(t, async () => {
    throw fail.remote('x', hostile, { details: { hostile } })
  }, ['--json'])
  t.notMatch(failed.stderr, drives)
  t.strictSame(failed.error().details, { hostile })
})

t.test('only our own colours pass the net', async (t) => {
  t.equal(terminalSafe('\u001b[1mbold\u001b[22m'), '\u001b[1mbold\u001b[22m')
  t.equal(terminalSafe('\u001b[2J\u001b[1mx'), '\\u001b[2J\u001b[1mx')
})

t.test('what cannot be told beside a result changes nothing of it', async (t) => {
  const io: Pick<ReturnType<typeof processIo>, 'writeErr'> = {
    writeErr: () => { throw new Error('no space') },
  }
  t.doesNotThrow(() => tell({ ...io } as Parameters<typeof tell>[0], 'a line'))
})
