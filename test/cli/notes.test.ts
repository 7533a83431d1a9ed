/** What has to be seen before anybody answers a question. */
import { notesOn } from '../../src/cli/notes.js'
import type { Io } from '../../src/cli/io.js'
import type { Prompter } from '../../src/cli/prompt.js'
import { setupFlags } from '../world/alpha.js'
import { failure, must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

const statement = /question and answer in plaintext|in plaintext/
const person = { stdin: true, stdout: true }

/** Where lines go, in one order with the questions. */
const told = (isFull = false) => {
  const seen: string[] = []
  const io = {
    terminal: { stdin: true, stdout: true, stderr: false }, columns: 80,
    writeErr: (text: string) => {
      if (isFull) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
      seen.push(text.trim())
    },
  } as unknown as Io
  const asked = async (message: string): Promise<never> => {
    seen.push(`? ${message}`)
    return true as never
  }
  const prompter = {
    confirm: asked, text: asked, secret: asked, choose: asked, pick: asked,
  } as unknown as Prompter
  return { io, prompter, seen }
}

t.test('A-072 with --quiet what was noted is shown before any question, and goes unsaid where none comes', async (t) => {
  for (const kind of ['confirm', 'text', 'secret', 'choose', 'pick'] as const) {
    const { io, prompter, seen } = told()
    const notes = notesOn(io, true)
    notes.note('the words')
    t.strictSame(seen, [])
    const ask = notes.asking(prompter)[kind] as (asked: string, of: readonly string[]) => unknown
    await ask('Agree', [])
    notes.note('more words')
    await ask('Really', [])
    notes.note('the end')
    t.strictSame(seen, ['the words', '? Agree', 'more words', '? Really'], kind)
  }
})

t.test('without it each line is shown at once, and once', async (t) => {
  const { io, prompter, seen } = told()
  const notes = notesOn(io, false)
  notes.note('the words')
  t.strictSame(seen, ['the words'])
  await notes.asking(prompter).confirm('Agree')
  t.strictSame(seen, ['the words', '? Agree'])
})

t.test('nobody is asked about words that could not be written', async (t) => {
  for (const quiet of [true, false]) {
    const { io, prompter, seen } = told(true)
    const notes = notesOn(io, quiet)
    notes.note('the words')
    await t.rejects(notes.asking(prompter).confirm('Agree'), {
      kind: 'failed', code: 'words_not_shown',
    })
    t.strictSame(seen, [], 'no question')
  }
})

t.test('A-072 an acknowledgment shows its words, also with --quiet and where the flag gives it, and no to it is a refusal by the person', async (t) => {
  const at = await World.in(t).sandbox().state({ owner: 'ada' }).session().alpha({ setUp: false })
  const secret = ['--passphrase-file', at.place.write('passphrase', 'another person')]
  must(await at.run(['principal', 'add', 'maria', ...secret]))
  const first = must(await at.run(setupFlags(at.place, await at.revision())))
  t.match(first.stderr, statement, 'the flag gives it')
  const again = must(await at.run([...setupFlags(at.place, await at.revision()), '--quiet']))
  t.notMatch(again.stderr, statement, 'nobody is asked')
  must(await at.run(['login', '--owner', 'maria', ...secret]))
  const acknowledge = ['alpha', 'acknowledge', '--quiet']
  const no = await at.run(acknowledge, { terminal: person, answers: [false] })
  t.match(no.stderr, statement)
  t.hasStrict(failure(await at.run([...acknowledge, '--json'], {
    terminal: person, answers: [false],
  })), { status: 130, code: 'declined' })
  const yes = must(await at.run(acknowledge, { terminal: person, answers: [true] }))
  t.match(yes.stderr, statement)
})

t.test('A-063 what a revoke ended is not told as enabled by a line that gives no acknowledgment', async (t) => {
  const at = await World.in(t).sandbox().state({ owner: 'ada' }).session().alpha()
  must(await at.run(['policy', 'revoke', '--json']))
  const before = await at.revision()
  t.hasStrict(failure(await at.run(['alpha', 'setup', '--enable', '--json'])), {
    status: 3, code: 'acknowledgment_required',
  })
  t.equal(await at.revision(), before)
  t.equal((await at.ask()).status, 4)
})
