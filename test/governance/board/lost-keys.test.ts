import t from 'tap'
import { validate } from 'uuid'
import { msOfUuid7 } from '../../../src/base/ids.js'
import { isLostKey, newRequestKey } from '../../../src/governance/board/lost-keys.js'
import { collections } from '../../../src/governance/rows.js'
import { Memory } from '../../support/governance/memory.js'

const at = '2026-01-01T00:00:00.000Z'

t.test('before any loss a new key carries its time, after one the mark of that loss', async (t) => {
  const memory = new Memory()
  t.ok(msOfUuid7(newRequestKey(memory.view())) !== undefined)
  const lose = (id: string): void => memory.transact((tx) =>
    tx.put(collections.lostKeys, id, { from: '', to: null, at }))
  lose('documents-1-0')
  const key = newRequestKey(memory.view())
  t.ok(validate(key), 'it is a UUID')
  t.not(newRequestKey(memory.view()), key)
  t.equal(isLostKey(memory.view(), key), false, 'made since')
  t.equal(isLostKey(memory.view(), `${key.slice(0, 14)}4${key.slice(15)}`), true, 'a client\'s')
  lose('documents-2-0')
  t.equal(isLostKey(memory.view(), key), true, 'it may have been lost by the second one')
  t.equal(isLostKey(memory.view(), newRequestKey(memory.view())), false)
})
