import t from 'tap'
import { leakyRuntime } from '../../src/net/leaky-runtime.js'
import { ask, client, failureOf, recorder } from '../support/net/world.js'

t.test('debug output that would show bodies or keys is found by variable', async (t) => {
  for (const value of ['http', 'HTTPS', 'Net', 'tls', 'stream', 'http2', 'fs,tls', 'tls,fs', '*',
    'h*',
    '*ttp', 'fs,n*t', 'tl*', 'module,*']) {
    t.equal(leakyRuntime({ NODE_DEBUG: value }, []), 'NODE_DEBUG', value)
  }
  for (const value of ['', 'fs', 'module,esm', 'xhttp', 'httpx', 'h', 'ht.p', '(', '[', 'timer']) {
    t.equal(leakyRuntime({ NODE_DEBUG: value }, []), null, value)
  }
  t.equal(leakyRuntime({ NODE_DEBUG_NATIVE: 'tls' }, []), 'NODE_DEBUG_NATIVE')
})

t.test('options that write keys, records or memory are found wherever they stand', async (t) => {
  for (const option of ['--tls-keylog=/tmp/k', '--tls-keylog', '--tls_keylog=/tmp/k', '--trace-tls',
    '--inspect', '--inspect=0', '--inspect-brk', '--inspect-wait', '--inspect-port=0',
    '--heapsnapshot-signal=SIGUSR2', '--heapsnapshot-near-heap-limit=1']) {
    t.ok(leakyRuntime({}, ['--no-warnings', option]), option)
    t.match(leakyRuntime({ NODE_OPTIONS: `--no-warnings  ${option}` }, []), /^NODE_OPTIONS \(--/)
    t.ok(leakyRuntime({ NODE_OPTIONS: `"${option}"` }, []), 'quoted')
  }
  for (const option of ['--enable-source-maps', '--tls-min-v1.3', '--use-openssl-ca',
    '--import=x']) {
    t.equal(leakyRuntime({ NODE_OPTIONS: option }, [option]), null, option)
  }
})

t.test('a run with such a setting contacts nobody and names it', async (t) => {
  const settings = [
    [{ env: { NODE_DEBUG: 'http' } }, 'NODE_DEBUG'],
    [{ env: { NODE_OPTIONS: '--tls-keylog=/k' } }, 'NODE_OPTIONS (--tls-keylog)'],
    [{ execArgv: ['--tls-keylog=/k'] }, '--tls-keylog'],
  ] as const
  for (const [deps, variable] of settings) {
    const { steps, hooks } = recorder()
    for (const maker of [client(deps), client(deps).openSession()]) {
      const { error, ...rest } = await failureOf(
        maker.request(ask('https://provider.test/', { ...hooks, method: 'GET' })),
      )
      t.hasStrict(rest, { code: 'debug_output_refused', kind: 'rejected', contact: 'none' })
      t.hasStrict(error, { details: { variable } })
      t.ok(error.message.includes(variable))
    }
    t.strictSame(steps, [])
  }
})
