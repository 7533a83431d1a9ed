// The least that answers `GET /healthz` by the framework that the service is made with, over the
// same TLS. Argument: the file of key and certificate.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'

const { key, certificate: cert } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const app = new Hono()
app.get('/healthz', (context) => context.json({ status: 'ok' }))
serve({
  fetch: app.fetch, createServer, hostname: '127.0.0.1', port: 0,
  serverOptions: { key, cert, ALPNProtocols: ['http/1.1'] },
}, ({ port }) => console.log(JSON.stringify({ port })))
