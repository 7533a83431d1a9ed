/** What is consented to, taken back, and who asks. */
import assert from 'node:assert/strict'
import { reconnect } from '../../../../src/codehost/connect.js'
import { recoverState } from '../../../../src/fabric/recovery.js'
import type { Line } from './deployment.js'
import type { Lived } from './lived.js'

/** Takes something back: nothing may be written from then on. */
export const narrow = async (
  lived: Lived, work: (line: Line) => Promise<unknown>,
): Promise<void> => {
  const told = await lived.silent(() => lived.at.line({ mode: 'write' }, async (line) => {
    await work(line)
    await recoverState(line.gov)
  }))
  assert.equal(told.kind, 'done', JSON.stringify(told))
  lived.model.consent.live = false
  lived.absorb()
}

/** Saves another token. */
export const rotate = async (lived: Lived): Promise<void> => {
  const { revision } = lived.model
  const told = await lived.silent(() => lived.at.line({}, ({ gov, session }) =>
    reconnect(gov, session, {
      connectionId: lived.at.connectionId, expectedRevision: revision,
      token: Buffer.from('ghp_model_token'),
    })))
  assert.equal(told.kind, 'done', JSON.stringify(told))
  lived.model.vault += 1
  lived.model.consent.live = false
  lived.absorb()
  assert.ok(lived.model.revision > revision, 'another token is another revision')
}

/** Another session asks from now on. */
export const login = async (lived: Lived): Promise<void> => {
  await lived.silent(() => lived.at.login())
  lived.model.root += 1
  lived.absorb()
}

/** A person consents, where nothing occupies the connection. */
export const consent = async (lived: Lived): Promise<void> => {
  const model = lived.model
  const { revision } = model
  const told = await lived.at.consent()
  assert.equal(told.kind, model.active === null ? 'done' : 'refused', JSON.stringify(told))
  if (told.kind !== 'done') return
  model.consent = { id: model.consents, root: model.root, live: true }
  model.consents += 1
  lived.absorb()
  assert.ok(model.revision > revision, 'a consent is another revision')
}
