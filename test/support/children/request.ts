/**
 * One request made in a process of its own, because what is tested is the environment of a
 * process. Reads what to do from the first argument and prints one JSON line.
 */
import { request as nodeRequest } from 'node:https'
import { systemClock } from '../../../src/base/clock.js'
import { createHttpsClient } from '../../../src/net/client.js'
import { contactOf } from '../../../src/net/contact-error.js'
import { patienceMs } from '../speed.js'

const { url, ca, port, naive } = JSON.parse(process.argv[2] ?? '{}') as {
  url: string
  ca: string
  port: number
  naive: boolean
}

/** What a program does that sets nothing: the control that shows that the setting has power. */
const naively = (): Promise<{ status: number }> =>
  new Promise((resolve, reject) => {
    const asked = nodeRequest(
      { host: '127.0.0.1', port, servername: new URL(url).hostname, agent: false },
      (reply) => resolve({ status: reply.statusCode ?? 0 }),
    )
    asked.on('error', reject)
    asked.end()
  })

const ours = (): Promise<{ status: number }> =>
  createHttpsClient({
    clock: systemClock,
    env: process.env,
    execArgv: process.execArgv,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ca: [ca],
    loopbackOnly: true,
  }).request({
    method: 'POST',
    url,
    headers: { authorization: 'Bearer secret-key' },
    body: Buffer.from('the secret question'),
    requestBytesMax: 1_000,
    replyBytesMax: 1_000,
    timeoutMs: patienceMs(),
    authority: () => undefined,
    markContact: () => undefined,
  })

try {
  const { status } = await (naive ? naively() : ours())
  process.stdout.write(JSON.stringify({ status }))
} catch (error) {
  const { code, kind, message } = error as { code: string; kind: string; message: string }
  process.stdout.write(JSON.stringify({ code, kind, message, contact: contactOf(error) }))
}
