/** Two saves with a revoke between them: undoing the first must leave the second alone. */
import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { collections } from '../../src/governance/rows.js'
import { policyHead } from '../../src/governance/policy/head.js'
import { checkLedger, recover } from '../support/ledger.js'
import { must } from '../support/must.js'
import { limits } from '../world/alpha.js'
import { World, type AlphaWorld } from '../world/world.js'
import type { Ran, RunOptions } from '../world/place.js'

const save = async (rig: AlphaWorld, ceiling: number, more: RunOptions = {}) =>
  rig.run([
    'alpha', 'setup', '--json', '--enable', '--acknowledge-plaintext-egress',
    '--api-key-file', rig.place.path('key-2'), '--spend-ceiling-microusd', String(ceiling),
    '--expected-policy-revision', String(await rig.revision()),
  ], more)

t.test('A-083 A-190 A-191 a save that was overtaken by a revoke cannot undo the next one',
  async (t) => {
    for (const step of ['save.revoked', 'save.credential', 'save.accounting']) {
      const rig = await World.in(t).sandbox().state().session().alpha()
      writeFileSync(rig.place.path('key-2'), 'MARK-KEY-another\n')
      let status = 0
      const first = await save(rig, 2_000_000, {
        at: async (at) => {
          if (at !== step) return
          t.equal((await rig.run(['policy', 'revoke'])).status, 0)
          const second = await save(rig, 3_000_000)
          status = second.status
          t.equal(second.error().code, 'save_in_progress', step)
        },
      })
      t.strictSame([status, first.status], [5, 5], 'neither is in force')
      const third = await save(rig, 3_000_000)
      t.equal(third.status, 0, third.stderr)
      t.hasStrict(
        third.json().alpha_text, { status: 'configured', shared_ceiling_microusd: 3_000_000 }
      )
      t.equal(checkLedger(t, rig)?.ceiling_microusd, 3_000_000)
      const staged = rig.view().all(collections.credentials).filter(({ doc }) => doc.staged)
      t.strictSame(staged, [])
      t.equal((await rig.ask()).status, 0)
      const checked = await rig.run(['state', 'check', '--json'])
      t.strictSame(checked.json().problems, [], 'no secret of the undone save is left')
    }
  })

const disable = ['alpha', 'setup', '--disable', '--json']
const raised = limits.ceilingMicrousd * 2

const checkUndone = async (t: Test, rig: AlphaWorld): Promise<void> => {
  t.equal(checkLedger(t, rig)?.ceiling_microusd, limits.ceilingMicrousd, 'nobody approved another')
  must(await save(rig, limits.ceilingMicrousd))
  must(await rig.ask())
}

t.test('A-083 A-190 a save that only stops something and fails brings no ceiling of another save into force',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    writeFileSync(rig.place.path('key-2'), 'MARK-KEY-another\n')
    let fails = (): void => undefined
    const goesOn = new Promise<void>((resolve) => (fails = resolve))
    let second: Promise<Ran> | undefined
    const first = await save(rig, raised, {
      at: (at) => (at !== 'save.accounting' ? undefined : new Promise<void>((resolve) => {
        second = rig.run(disable, {
          at: async (step) => {
            if (step !== 'save.revoked') return
            resolve()
            await goesOn
            throw new Error('stopped by the test')
          },
        })
      })),
    })
    t.strictSame([first.status, first.error().code], [5, 'policy_moved'])
    fails()
    t.equal((await second)?.status, 1)
    await checkUndone(t, rig)
  })

t.test('A-083 A-190 nor does the recovery of both', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  writeFileSync(rig.place.path('key-2'), 'MARK-KEY-another\n')
  const killed = (argv: string[], step: string) =>
    rig.place.spawn(argv, { entry: 'test', coverage: false, env: { TEST_STOP_AT: step } })
  const first = await save(rig, raised, {
    at: async (at) => {
      if (at === 'save.accounting') t.equal((await killed(disable, 'save.revoked')).status, 137)
    },
  })
  t.equal(first.status, 5)
  t.equal((await recover(rig)).rolledBackSaves.length, 1)
  await checkUndone(t, rig)
})

t.test('A-190 what only stops something activates nothing over an interrupted save, whatever else is under way',
  async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    writeFileSync(rig.place.path('key-2'), 'MARK-KEY-another\n')
    const interrupted = await save(rig, raised, {
      at: (at) => { if (at === 'save.revoked') throw new Error('stopped by the test') },
    })
    t.equal(interrupted.status, 1)
    const first = await save(rig, raised, {
      at: async (at) => {
        if (at === 'save.accounting') must(await rig.run(disable))
      },
    })
    t.equal(first.status, 5)
    t.hasStrict(policyHead(rig.view()), { state: 'revoked', reason: 'save_interrupted' })
    t.equal((await rig.ask()).status, 4)
  })
