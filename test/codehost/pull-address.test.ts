/** Where the page of a pull request is, by the address of the host. */
import t from 'tap'
import { pullAddress } from '../../src/codehost/jobs/publish-contract.js'

t.test('the page of a pull request follows from the host in the profile, and from no reply', (t) => {
  for (const [base, pages] of [
    ['https://api.github.com', 'https://github.com'],
    ['https://git.example.org/api/v3', 'https://git.example.org'],
    ['https://git.example.org:8443/host/api/v3', 'https://git.example.org:8443/host'],
    ['https://127.0.0.1:40001', 'https://127.0.0.1:40001'],
  ] as const) t.equal(pullAddress(base, 'octo-org/hello', 12), `${pages}/octo-org/hello/pull/12`)
  t.throws(() => pullAddress('https://api.github.com', 'octo-org/hello/..', 12), {
    code: 'repository_name_invalid',
  })
  t.throws(() => pullAddress('https://api.github.com', 'octo-org/hello', 0), {
    name: 'TypeError',
  })
  t.end()
})
