/** What a copy that comes into force takes over of the connections of the state before it. */
import t from 'tap'
import { carryConnections } from '../../../src/governance/connections/carry.js'
import {
  connectionCollection, type Connection,
} from '../../../src/governance/connections/connection-rows.js'
import { Memory } from '../../support/governance/memory.js'

const now = '2026-11-20T12:00:00.000Z'
const connection: Connection = {
  connection_id: 'cnn_a', owner: 'prn_a', repository: 'o/r', repository_id: 7, revision: 2,
  mode: 'active', credential_ref: 'vault:connection_a', consent: null, consent_fence: 0,
  active_job_id: 'job_mine', active_fence: 3, created_at: now, updated_at: now,
}

const stateWith = (change: Partial<Connection>): Memory => {
  const memory = new Memory()
  memory.transact((tx) => tx.put(connectionCollection, 'cnn_a', { ...connection, ...change }))
  return memory
}

t.test('the job under the later fence occupies a connection; under one fence none, where either is free', (t) => {
  const occupant = (theirs: Partial<Connection>): string | null | undefined => {
    const mine = stateWith({})
    mine.transact((tx) => carryConnections(tx, now, stateWith(theirs).view()))
    return mine.view().get(connectionCollection, 'cnn_a')?.active_job_id
  }
  const other = 'job_theirs'
  t.equal(occupant({ active_job_id: other, active_fence: 4 }), other)
  t.equal(occupant({ active_job_id: other, active_fence: 2 }), 'job_mine')
  t.equal(occupant({}), 'job_mine')
  t.equal(occupant({ active_job_id: null }), null, 'it was free by then')
  t.equal(occupant({ active_job_id: other }), 'job_mine', 'histories that went on apart')
  t.end()
})
