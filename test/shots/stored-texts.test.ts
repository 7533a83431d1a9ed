/** What is sealed under a row and is not of its shape is damage, never an answer. */
import t from 'tap'
import { registerArtifact } from '../../src/governance/artifacts.js'
import { shotLabels } from '../../src/shots/constants.js'
import type { ShotsContext } from '../../src/shots/context.js'
import { readDigest } from '../../src/shots/digest/read-digest.js'
import type { Episode } from '../../src/shots/digest/digest-rows.js'
import { openPayload } from '../../src/shots/payload/read-payload.js'
import { readConclusion } from '../../src/shots/report/read-report.js'
import type { MadeConclusion } from '../../src/shots/report/report-rows.js'
import { codeOf } from '../support/refused.js'
import { World } from '../world/world.js'

t.test('a sealed analysis, digest or conclusion of another shape is refused by name', async (t) => {
  const { gov, transact, view } = await World.still(t).store()
  const stored = async (label: string, text: string): Promise<{ artifact_id: string }> => {
    const ref = gov.store.artifacts.write(label, Buffer.from(text))
    return transact((tx, now) =>
      registerArtifact(tx, now, { label, ref, owner: 'prn_1', taskId: null, adopted: true }))
  }
  const payload = async (text: string) => {
    const row = await stored(shotLabels.payload, text)
    return codeOf(() => openPayload({ gov } as ShotsContext, view(), row))
  }
  t.equal(await payload('{"summary":"a screen"}'), 'none')
  for (const text of ['[]', 'null', '7', '"text"']) {
    t.equal(await payload(text), 'payload_damaged', text)
  }
  for (const text of ['[]', '{}', '{"content":"text"}']) {
    const digest = await stored(shotLabels.digest, text)
    t.equal(codeOf(() => readDigest(gov, view(), digest as Episode)), 'digest_invalid', text)
    const conclusion = await stored(shotLabels.conclusion, text)
    t.equal(codeOf(() => readConclusion(gov, view(), conclusion as MadeConclusion)),
      'conclusion_invalid', text)
  }
})
