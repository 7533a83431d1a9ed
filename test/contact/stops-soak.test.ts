/** The loops of `npm run soak` over stops, a few rounds each. */
import {
  soakCreation, soakNarrowing, soakQuestion, violationsOf,
} from '../support/soak/narrowing.js'
import { soakRevokes, soakSaves } from '../support/soak/revokes.js'
import { t } from '../support/tests-in-slices.js'

t.test('A-071 A-168 no revoke answers before the last byte has left, whenever it comes',
  async (t) => {
    const report = await soakRevokes(t, 8)
    t.strictSame([report.leftAfter, report.unnamed, report.broken], [0, 0, []])
    t.equal(report.kept + report.sent, report.rounds, 'at most one request a round')
  })

t.test('A-075 A-191 a save that is killed opens nothing, with a stop beside it and without',
  async (t) => {
    const report = await soakSaves(t, 8)
    t.strictSame([report.open, report.broken, report.killed], [0, [], 8])
  })

t.test('S-017 S-168 a command that closes something keeps the rest of a picture here, at each phase',
  async (t) => {
    const [report] = await soakNarrowing(t, 3, ['shots config set --cloud-upload off'])
    t.hasStrict(report, {
      leftAfter: 0, unnamed: 0, again: 0, wrong: 0, broken: [],
      phases: { 'first byte waits': 1, 'pieces leave': 1, 'host has it': 1 },
    })
    t.equal(report && violationsOf(report), 0)
    for (const command of ['alpha setup --disable', 'alpha setup --api-key-file OTHER']) {
      const asked = await soakQuestion(t, 2, command)
      t.equal(violationsOf(asked), 0, JSON.stringify(asked))
    }
    const created = await soakCreation(t, 2, 'codehost connect --token-file OTHER')
    t.equal(violationsOf(created), 0, JSON.stringify(created))
  })
