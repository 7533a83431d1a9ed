// Many connections that ask for one address for some seconds, in a process of its own: autocannon.
// Argument: a file with JSON (url, token or null, connections, seconds). Prints JSON: requests a
// second, milliseconds at half and at 99 of 100 of them, and how many were not answered with 200.
import { readFileSync } from 'node:fs'
import autocannon from 'autocannon'

const order = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const { url, token, connections, seconds } = order
const seen = await autocannon({
  url, connections, duration: seconds,
  headers: token === null ? {} : { authorization: `Bearer ${token}` },
})
const { requests, latency, errors, timeouts, non2xx } = seen
console.log(JSON.stringify({
  rate: requests.average, p50: latency.p50, p99: latency.p99, worst: latency.max,
  refused: errors + timeouts + non2xx,
}))
