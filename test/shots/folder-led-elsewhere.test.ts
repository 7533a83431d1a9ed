/**
 * An image folder by a link: where that leads elsewhere while an image waits, nobody has saved
 * anything, and no image of the folder of before leaves.
 */
import { cpSync, rmSync, symlinkSync } from 'node:fs'
import { folderVariable } from '../../src/shots/constants.js'
import { reanalyzeOne } from '../../src/shots/analysis/reanalyze.js'
import { betweenLookAndClaim, healthy, nextImage, rowOf, sent } from '../support/shots.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import type { Teardown } from '../world/place.js'
import { World } from '../world/world.js'

/** A world with one image that waits, in a folder that the environment names by a link. */
const linked = async (t: Teardown) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  const link = world.place.path('link')
  const other = world.place.path('other')
  symlinkSync(world.folder, link)
  const env = { [folderVariable]: link }
  world.file('a.png', nextImage())
  must(await world.run(['shots', 'scan', '--json'], { env }))
  const leadElsewhere = async (): Promise<void> => {
    cpSync(world.folder, other, { recursive: true, preserveTimestamps: true })
    rmSync(link)
    symlinkSync(other, link)
  }
  return { world, env, leadElsewhere }
}

t.test('an image whose folder is another one before its first byte is skipped, and nothing is held for it', async (t) => {
  for (const step of ['claimed', 'reserved', 'before_first_byte']) {
    const { world, env, leadElsewhere } = await linked(t)
    let done = false
    const ran = await world.run(['shots', 'analyze', '--json'], {
      env,
      at: async (at) => {
        if (done || at !== `analyze.${step}`) return
        done = true
        await leadElsewhere()
      },
    })
    t.ok(done, step)
    t.hasStrict(must(ran).json(), { analyzed: 0, failed: 0, skipped: 1, items: [] }, step)
    t.hasStrict(rowOf(world, 'a.png'), {
      analysis_status: 'pending', analyzer: { contact: 'none' },
    }, step)
    t.equal(sent(world), 0, step)
    await healthy(t, world)
  }
})

t.test('an image whose folder is another one by the time that it is claimed is claimed by nobody', async (t) => {
  const { world, env, leadElsewhere } = await linked(t)
  const before = rowOf(world, 'a.png')
  const here = betweenLookAndClaim(world, leadElsewhere)
  const ctx = { ...here, env: { ...here.env, ...env } }
  const { receipt } = await reanalyzeOne(ctx, world.session(), {
    target: before.observation_id, reason: 'manual_operator_request',
  })
  t.hasStrict(receipt, { analyzed: 0, failed: 0, skipped: 1, items: [] })
  t.strictSame(rowOf(world, 'a.png'), before)
})
