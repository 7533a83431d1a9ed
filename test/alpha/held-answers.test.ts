/** An answer that was paid for stays within reach, unless consent or session really ended. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.js'
import type { NextStep } from '../../src/base/next-step.js'
import { requireArtifact } from '../../src/governance/artifacts.js'
import { getJob } from '../../src/governance/board/visible-tasks.js'
import { latestConsent } from '../../src/governance/policy/consents.js'
import { newestTask } from '../support/board.js'
import { checkLedger } from '../support/ledger.js'
import { must } from '../support/must.js'
import { dropLastWitness } from '../support/drop-witness.js'
import { t } from '../support/tests-in-slices.js'
import { limits } from '../world/alpha.js'
import type { Ran, RunOptions } from '../world/place.js'
import { World, type AlphaWorld } from '../world/world.js'

const rigOf = (t: Parameters<typeof World.in>[0]): Promise<AlphaWorld> =>
  Promise.resolve(World.in(t).sandbox().state().session().alpha())

const consentId = (rig: AlphaWorld): string | undefined =>
  latestConsent(rig.view(), 'alpha.text')?.consent_id

/** Where the held answer of the newest task lies. */
const heldFile = (rig: AlphaWorld): string => {
  const view = rig.view()
  const held = String(getJob(view, newestTask(rig)).progress['held_artifact_id'])
  const { stored_sha256: name } = requireArtifact(view, held).ref
  return join(rig.place.stateDir, 'artifacts', name.slice(0, 2), name)
}

/** A save of these flags, acknowledged, at the present revision. */
const save = async (
  rig: AlphaWorld, flags: readonly string[], more: RunOptions = {},
): Promise<Ran> => rig.run([
  'alpha', 'setup', '--json', '--acknowledge-plaintext-egress', ...flags,
  '--expected-policy-revision', String(await rig.revision()),
], more)

/** An ask whose charge passes the bound by far. */
const overrun = async (rig: AlphaWorld): Promise<string> => {
  rig.sandbox.faults.set('billing_overrun', { value: limits.boundMicrousd })
  const ran = await rig.ask()
  rig.sandbox.faults.clear()
  if (ran.status !== 7) throw new Error(ran.stderr)
  return newestTask(rig).task_id
}

t.test('A-065 A-128 a raised bound keeps the consent, and the answer that waited is accepted',
  async (t) => {
    const rig = await rigOf(t)
    const task = await overrun(rig)
    const before = consentId(rig)
    const changes = [
      ['--request-cost-bound-microusd', String(limits.boundMicrousd + 1)],
      ['--timeout-seconds', '10'], ['--max-output-tokens', '200'],
      ['--spend-ceiling-microusd', String(limits.ceilingMicrousd + 1)],
      ['--api-key-file', rig.place.write('key-2', 'MARK-KEY-another\n')],
    ]
    for (const flags of changes) {
      must(await save(rig, flags))
      t.equal(consentId(rig), before, `${flags[0]} keeps the consent`)
    }
    t.hasStrict((await rig.json(['alpha', 'show'])).alpha_text, { status: 'configured' })
    const reviewed = must(await rig.run(['alpha', 'review', task, '--accept-overrun', '--json']))
    t.equal(reviewed.json().state, 'succeeded')
    must(await rig.run(['alpha', 'output', task]))
  })

t.test('A-128 A-130 a held answer is accepted after the session that asked has expired',
  async (t) => {
    const rig = await rigOf(t)
    const task = await overrun(rig)
    must(await rig.run(['goal', 'update', newestTask(rig).goal_id, '--title', 'Another aim']))
    const later = { ...systemClock, wallMs: () => Date.now() + 8 * 24 * 3_600_000 }
    const run = (argv: string[]) => rig.run([...argv, '--json'], { clock: later })
    must(await run(['login', '--replace']))
    t.equal((await run(['alpha', 'review', task, '--accept-overrun'])).status, 4)
    must(await run(['task', 'recover', task]))
    const reviewed = must(await run(['alpha', 'review', task, '--accept-overrun']))
    t.equal(reviewed.json().state, 'succeeded')
  })

t.test('A-097 A-168 a save while the reply is under way does not take the answer away',
  async (t) => {
    for (const flags of [
      ['--max-output-tokens', '10'], ['--spend-ceiling-microusd', '60000'],
      ['--request-cost-bound-microusd', '1'], ['--timeout-seconds', '1'],
    ]) {
      const rig = await rigOf(t)
      const ran = await rig.ask({
        at: async (at) => { if (at === 'ask.replied') must(await save(rig, flags)) },
      })
      t.equal(ran.status, 0, `${flags[0]}: ${ran.stderr}`)
    }
  })

/** An ask whose closing record meets a save that stands still at its first step. */
const duringSave = async (
  rig: AlphaWorld, meanwhile: () => Promise<unknown> = async () => undefined,
  args: readonly string[] = [],
): Promise<{ asked: Ran; saved: Ran }> => {
  let goOn = (): void => undefined
  const ended = new Promise<void>((resolve) => { goOn = resolve })
  let saving: Promise<Ran> | undefined
  const asked = await rig.ask({
    args,
    at: async (at) => {
      if (at !== 'ask.answer_sealed') return
      await new Promise<void>((begun, failed) => {
        saving = save(rig, ['--timeout-seconds', '10'], {
          at: async (step) => {
            if (step !== 'save.revoked') return
            begun()
            await ended
          },
        })
        saving.catch(failed)
      })
      await meanwhile()
    },
  })
  goOn()
  if (saving === undefined) throw new Error('the save did not begin')
  return { asked, saved: await saving }
}

t.test('A-168 A-184 a closing record that meets a save holds the answer for a person',
  async (t) => {
    const rig = await rigOf(t)
    const { asked, saved } = await duringSave(rig)
    t.equal(asked.status, 7, asked.stderr)
    t.equal(asked.error().reason, 'alpha_save_in_between')
    must(saved)
    const task = newestTask(rig)
    t.hasStrict(task.blocked, { kind: 'answer_held', reason: 'alpha_save_in_between' })
    t.equal((await rig.run(['alpha', 'output', task.task_id])).status, 7, 'nothing is released')
    for (const verb of [['review', '--approve'], ['cancel']]) {
      const refused = await rig.run(['task', ...verb, task.task_id, '--json'])
      t.equal(refused.error().code, 'task_blocked')
      t.match(refused.error().hint, /review it with --accept-held, or --reject/)
      const [told] = refused.error().next.map(({ command }: NextStep) => command)
      t.equal(told, `sallyport task show ${task.task_id}`)
      must(await rig.run(told?.split(' ').slice(1) ?? []))
    }
    const reviewed = must(
      await rig.run(['task', 'review', task.task_id, '--accept-held', '--json']))
    t.equal(reviewed.json().state, 'succeeded')
    must(await rig.run(['alpha', 'output', task.task_id]))
    t.equal(rig.inferences().length, 1)
    t.equal(checkLedger(t, rig)?.held_microusd, 0)
  })

t.test('A-168 A-184 a revoke drops an answer that a save made wait, before and after its end',
  async (t) => {
    const rig = await rigOf(t)
    const { asked } = await duringSave(rig, async () => must(await rig.run(['policy', 'revoke'])))
    t.not(asked.status, 0)
    t.equal(newestTask(rig).state, 'failed')
    t.equal(newestTask(rig).reason, 'policy_revoked')
    must(await save(rig, ['--enable']))
    const held = await duringSave(rig)
    t.equal(held.asked.status, 7)
    const { task_id: id } = newestTask(rig)
    must(await rig.run(['policy', 'revoke']))
    must(await save(rig, ['--enable']))
    const accepted = await rig.run(['alpha', 'review', id, '--accept-held', '--json'])
    t.equal(accepted.error().code, 'answer_not_adoptable')
    const file = heldFile(rig)
    t.ok(existsSync(file))
    must(await rig.run(['alpha', 'review', id, '--reject']))
    t.equal(newestTask(rig).reason, 'held_answer_rejected')
    t.notOk(existsSync(file), 'what was rejected lies nowhere')
  })

t.test('a repeat under the key of a held answer that was rejected says that a person ended it',
  async (t) => {
    const rig = await rigOf(t)
    const args = ['--idempotency-key', '0b0e6a3c-7f0e-4a1e-9d3a-7a7c2f2f4a10']
    t.equal((await duringSave(rig, undefined, args)).asked.status, 7)
    must(await rig.run(['task', 'review', newestTask(rig).task_id, '--reject']))
    const again = await rig.ask({ args })
    t.equal(again.status, 7)
    t.hasStrict(again.error(), { code: 'ask_blocked', reason: 'held_answer_rejected' })
    t.equal(rig.inferences().length, 1)
  })

t.test('A-168 a save that was interrupted holds the answer, and the next one gives it back',
  async (t) => {
    const rig = await rigOf(t)
    const asked = await rig.ask({
      at: async (at) => {
        if (at !== 'ask.answer_sealed') return
        await save(rig, ['--timeout-seconds', '10'], {
          at: async (step) => { if (step === 'save.credential') throw new Error('died') },
        })
      },
    })
    t.equal(asked.status, 7, asked.stderr)
    const task = newestTask(rig)
    const early = await rig.run(['alpha', 'review', task.task_id, '--accept-held', '--json'])
    t.equal(early.error().reason, 'save_interrupted', 'nothing is adopted meanwhile')
    t.equal(early.error().code, 'answer_suspended')
    t.match(early.error().hint, /alpha setup --enable/)
    t.notMatch(early.error().hint, /--reject/, 'nobody is led to drop it')
    const waits = await rig.json(['status'])
    const [held] = waits.waiting.filter(({ what }: { what: string }) => what === 'held_result')
    t.equal(held.command, 'sallyport policy show', 'it cannot be accepted yet')
    const before = consentId(rig)
    must(await save(rig, ['--enable']))
    t.equal(consentId(rig), before, 'a save after an interrupted one is no new consent')
    must(await rig.run(['alpha', 'review', task.task_id, '--accept-held']))
    must(await rig.run(['alpha', 'output', task.task_id]))
  })

t.test('A-158 A-168 a save that died before its witness line takes no answer away', async (t) => {
  const rig = await rigOf(t)
  const asked = await rig.ask({
    at: async (at) => {
      if (at !== 'ask.answer_sealed') return
      must(await save(rig, ['--timeout-seconds', '9']))
      dropLastWitness(rig.place)
    },
  })
  t.equal(asked.status, 0, `it was saved: ${asked.stderr}`)
  const begun = await duringSave(rig, async () => dropLastWitness(rig.place))
  t.equal(begun.asked.status, 7, begun.asked.stderr)
  t.equal(begun.asked.error().reason, 'alpha_save_in_between')
  must(begun.saved)
  const { task_id: id } = newestTask(rig)
  must(await rig.run(['alpha', 'review', id, '--accept-held']))
  must(await rig.run(['alpha', 'output', id]))
})

t.test('A-156 A-185 a session that cannot outlive request and billing is refused before contact',
  async (t) => {
    const rig = await rigOf(t)
    for (const flags of [['--ttl', '30s'], ['--idle', '30s']]) {
      must(await rig.run(['login', '--replace', ...flags]))
      const refused = await rig.ask()
      t.equal(refused.status, 4, refused.stderr)
      t.equal(refused.error().reason, 'session_ends_too_soon')
    }
    t.equal(rig.inferences().length, 0)
    must(await rig.run(['login', '--replace', '--ttl', '60s', '--idle', '60s']))
    must(await rig.ask())
  })

const onTerminal = { stdin: true, stdout: true, stderr: true }

t.test('A-065 A-128 a set-up lists the answers that it would void and asks; silence keeps them',
  async (t) => {
    const rig = await rigOf(t)
    const task = await overrun(rig)
    const disable = ['alpha', 'setup', '--disable']
    const before = await rig.revision()
    const declined = await rig.run(disable, { terminal: onTerminal, answers: [false] })
    t.equal(declined.status, 130)
    t.match(declined.stderr, `Task ${task}:`)
    t.match(declined.stderr, 'Consents that this save ends: alpha.text.')
    t.equal(await rig.revision(), before, 'nothing was saved')

    // A document without `enabled` disables as well, and says nothing of stopping.
    const document = rig.place.write('setup.json', '{"alpha_text":{}}')
    for (const verb of [['alpha', 'setup'], ['config', 'save']]) {
      const refused = await rig.run([...verb, '--from', document, '--json'])
      t.equal(refused.status, 5)
      t.hasStrict(refused.error(), { code: 'save_voids_answers', details: { tasks: task } })
    }
    t.equal(await rig.revision(), before, 'nothing was published')
    must(await rig.run(['alpha', 'review', task, '--accept-overrun']))
    must(await rig.run(['alpha', 'output', task]))
    const nothing = must(await rig.run(disable, { terminal: onTerminal }))
    t.notMatch(nothing.stderr, 'Task', 'where nothing waits, nothing is asked')
  })

t.test('A-065 A-128 a save behind one that was interrupted lists the answers that it would void, too',
  async (t) => {
    const rig = await rigOf(t)
    const task = await overrun(rig)
    const died = await save(rig, ['--timeout-seconds', '10'], {
      at: async (step) => { if (step === 'save.credential') throw new Error('died') },
    })
    t.not(died.status, 0)
    const document = rig.place.write('setup.json', '{"alpha_text":{}}')
    const refused = await rig.run(['alpha', 'setup', '--from', document, '--json'])
    t.equal(refused.status, 5)
    t.hasStrict(refused.error(), { code: 'save_voids_answers', details: { tasks: task } })
  })

t.test('A-050 A-128 disabling is never hard: it tells what it costs, and the flag says yes',
  async (t) => {
    const rig = await rigOf(t)
    const task = await overrun(rig)
    must(await save(rig, ['--timeout-seconds', '9']))
    const document = rig.place.write('setup.json', '{"alpha_text":{}}')
    const stopped = must(await rig.run(['alpha', 'setup', '--disable']))
    t.match(stopped.stderr, `Task ${task}:`)
    const late = await rig.run(['alpha', 'review', task, '--accept-overrun', '--json'])
    t.equal(late.error().code, 'answer_not_adoptable')
    must(await rig.run(['alpha', 'review', task, '--reject']))
    must(await save(rig, ['--enable']))
    const other = await overrun(rig)
    const voided = must(await rig.run(['alpha', 'setup', '--from', document, '--void-answers']))
    t.match(voided.stderr, `Task ${other}:`)
    t.equal((await rig.json(['alpha', 'show'])).alpha_text.enabled, false)
  })

t.test('A-097 a question under way is listed, and only what was listed is given up', async (t) => {
  const rig = await rigOf(t)
  const document = rig.place.write('setup.json', '{"alpha_text":{}}')
  const asked = await rig.ask({
    at: async (at) => {
      if (at !== 'ask.replied') return
      const refused = await rig.run(['alpha', 'setup', '--from', document, '--json'])
      t.equal(refused.error().code, 'save_voids_answers')
      t.equal(refused.error().details?.['tasks'], newestTask(rig).task_id)
    },
  })
  t.equal(asked.status, 0, `the answer is not lost: ${asked.stderr}`)
})

t.test('A-128 A-168 what comes to wait after the list was shown is not given up with it',
  async (t) => {
    const rig = await rigOf(t)
    const shown = await overrun(rig)
    const document = rig.place.write('setup.json', '{"alpha_text":{}}')
    const before = await rig.revision()
    let later = ''
    const refused = await rig.run(['alpha', 'setup', '--from', document, '--quiet', '--json'], {
      terminal: onTerminal,
      answers: [async () => {
        must(await rig.run(['alpha', 'review', shown, '--reject']))
        later = await overrun(rig)
        return true
      }],
    })
    t.equal(refused.status, 5, refused.stderr)
    t.hasStrict(refused.error(), { code: 'save_voids_answers', details: { tasks: later } })
    t.match(refused.error().hint, 'wait for what is under way; other owners release theirs.')
    t.match(refused.error().message, later, 'each is named')
    t.equal(await rig.revision(), before)
    must(await rig.run(['alpha', 'review', later, '--accept-overrun']))
  })
