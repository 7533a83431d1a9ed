/** Two saves with a revoke between them: undoing the first must leave the second alone. */
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { collections } from '../../src/governance/rows.js'
import { checkLedger } from '../support/ledger.js'
import { World, type AlphaWorld } from '../world/world.js'
import type { RunOptions } from '../world/place.js'

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
