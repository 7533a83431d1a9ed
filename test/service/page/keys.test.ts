/** What opens the page: passes that work once within a minute, run tokens that die. */
import t from 'tap'
import { PageKeys, passMs } from '../../../src/service/page/keys.js'
import { stillClock } from '../../support/clock.js'

const thrown = (work: () => unknown): { code: string } | null => {
  try {
    work()
  } catch (error) {
    return error as { code: string }
  }
  return null
}

t.test('a pass works once, for what it is for, and not after a minute', async (t) => {
  const clock = stillClock()
  const keys = new PageKeys(clock)
  const code = keys.pass('code', 'root_1')
  t.equal(keys.find('report', code), null, 'a code shows no report')
  t.equal(keys.useCode(code), 'root_1')
  t.hasStrict(thrown(() => keys.useCode(code)), { code: 'page_code_refused' }, 'a second time')
  const late = keys.pass('code', 'root_1')
  clock.advance(passMs)
  t.hasStrict(thrown(() => keys.useCode(late)), { code: 'page_code_refused' }, 'too late')
  const intime = keys.pass('code', 'root_1')
  clock.advance(passMs - 1)
  clock.stepWall(3_600_000)
  t.equal(keys.useCode(intime), 'root_1', 'whatever the wall clock says')
  t.equal(keys.find('code', keys.pass('report', 'root_1')), null)
})

t.test('a run token is of one process, ends when it is closed, and the oldest gives way', async (t) => {
  const keys = new PageKeys(stillClock())
  const other = new PageKeys(stillClock())
  const token = keys.open('root_1')
  t.match(token, /^spr_[A-Za-z0-9_-]{43}$/)
  t.equal(keys.rootOf(token), 'root_1')
  t.hasStrict(thrown(() => other.rootOf(token)), { code: 'page_token_refused' })
  for (const wrong of [null, '', token.slice(0, -1), `${token}x`, token.slice(4)]) {
    t.hasStrict(thrown(() => keys.rootOf(wrong)), { code: 'page_token_refused' }, String(wrong))
  }
  keys.close(token)
  t.hasStrict(thrown(() => keys.rootOf(token)), { code: 'page_token_refused' })
  const first = keys.open('root_1')
  const more = Array.from({ length: 256 }, (_, at) => keys.open(`root_${at}`))
  t.hasStrict(thrown(() => keys.rootOf(first)), { code: 'page_token_refused' })
  t.equal(keys.rootOf(more.at(-1) ?? ''), 'root_255')
})
