/** Every way on that a publication prints is a line that can be typed, and leads on. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { must } from '../../../support/must.js'
import { observed } from '../../../support/codehost/producing.js'
import { publishing, type Publishing } from '../../../support/codehost/publishing.js'
import { slice } from '../../../support/slice.js'

/** Types what was printed, with what a person has to fill in; gives its exit status. */
const typed = async (t: Test, at: Publishing, command: string): Promise<number> => {
  const [program, ...words] = command
    .replace(/ F$/, ` ${at.sandbox.keyFiles.codehost}`).split(' ')
  t.equal(program, 'sallyport')
  return (await at.run(words)).status
}

interface Way {
  readonly text: string
  readonly command: string | null
  readonly for_good: boolean
}

const wayOf = async (at: Publishing, job: string): Promise<Way> =>
  (await at.json(['codehost', 'job', job])).way_on

const observe = (at: Publishing, how: object): void =>
  writeFileSync(join(at.place.stateDir, 'observe.json'), JSON.stringify(how))

const lose = (at: Publishing, number: number): void => {
  at.sandbox.faults.set('write_close_before_headers', {
    service: 'codehost', after: number - 1, times: 1,
  })
}

/** Makes a job stand where it says; nothing for those that the last one left. */
const places: readonly (readonly [
  string, (at: Publishing, job: string) => Promise<unknown>, readonly (readonly [string, number])[],
  boolean,
])[] = [
  ['approved', async () => undefined, [['codehost run', 0]], false],
  ['cut off before anything', async (at, job) => {
    const stop = new AbortController()
    await at.runJob(job, {
      stop: stop.signal, at: (step) => {
        if (step === 'codehost.reserved') stop.abort()
      },
    })
  }, [['codehost preview', 0]], false],
  ['stopped between two POSTs', async (at, job) => {
    const stop = new AbortController()
    await at.runJob(job, {
      stop: stop.signal, at: (step) => {
        if (step === 'codehost.post_3_of_6') stop.abort()
      },
    })
  }, [['codehost run \\S+ --resume', 0]], false],
  ['a lost reply', async (at, job) => {
    lose(at, 2)
    await at.runJob(job)
  }, [['codehost recover reconcile', 7], ['codehost run \\S+ --resume', 0]], false],
  ['a lost number', async (at, job) => {
    lose(at, 6)
    await at.runJob(job)
  }, [['codehost close-capacity', 3]], false],
  ['a refusal', async (at, job) => {
    at.sandbox.faults.set('write_not_done_422', { service: 'codehost', times: 1 })
    await at.runJob(job)
  }, [['codehost connect', 0]], true],
  ['local work without proof', async (at, job) => {
    observe(at, { stopAt: 'fed', do: 'kill' })
    await at.runJob(job)
  }, [['codehost connect', 0]], true],
  ['local work that is over', async (at, job) => {
    observe(at, { wallMs: 20_000, reapMs: 19_999 })
    await at.runJob(job)
  }, [], false],
]

t.test('each place at which a publication can stand prints a line that leads on, or says that there is none', async (t) => {
  const at = await publishing(t, { producer: { helper: observed() } })
  const prepared = await at.preparedPublication()
  t.equal(await typed(t, at, (await wayOf(at, prepared)).command ?? ''), 0)
  const cells = slice('places', places, {
    axesOf: ([, , , forGood]) => [String(forGood)], idOf: ([what]) => what, atLeast: 3,
  })
  for (const [what, stand, lines, forGood] of cells) {
    const job = await at.approvedPublication()
    await stand(at, job)
    at.sandbox.faults.clear()
    observe(at, {})
    const own = (await at.json(['codehost', 'connections'])).find((one: { id: string }) =>
      one.id === at.id)
    t.equal(own.occupied_for_good ?? false, forGood, `${what}: occupied for good`)
    t.equal((await wayOf(at, job)).for_good, forGood, what)
    const table = must(await at.run(['codehost', 'connections'])).stdout
    t.equal(table.includes('occupied for good'), forGood, what)
    if (lines.length === 0) t.equal((await wayOf(at, job)).command, null, what)
    for (const [begins, status] of lines) {
      const { command } = await wayOf(at, job)
      t.ok(new RegExp(`^sallyport ${begins}`).test(command ?? ''), `${what}: ${String(command)}`)
      t.equal(await typed(t, at, command ?? ''), status, `${what}: ${String(command)}`)
    }
    if (at.connection().active_job_id !== null) await at.free(job)
  }
})
