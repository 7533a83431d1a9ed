// The least that gets an answer and its cost from the provider: the two POSTs that `alpha ask`
// makes, with the same headers and bodies, by node-fetch over the same TLS. No consent, no ledger,
// no record. Arguments: the deployment profile and the file of the provider key.
import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import fetch from 'node-fetch'

const [profileFile, keyFile] = process.argv.slice(2)
const { ca_file: caFile, provider } = JSON.parse(readFileSync(profileFile, 'utf8'))
const key = readFileSync(keyFile, 'utf8').trim()
const agent = new Agent({ ca: readFileSync(caFile) })

const post = async (path, body) => {
  const response = await fetch(provider.base_url + path, {
    method: 'POST',
    agent,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json',
      'accept-encoding': 'identity',
    },
    body: JSON.stringify(body),
  })
  if (response.status !== 200) throw new Error(`status ${response.status}`)
  return { id: response.headers.get('inference-id'), body: await response.json() }
}

const question = readFileSync(0, 'utf8')
const answer = await post('/chat/completions', {
  model: provider.model_id,
  messages: [{ role: 'user', content: question }],
  n: 1,
  max_tokens: 200,
  stream: false,
})
const bill = await post('/billing/costs', { requestIds: [answer.id] })
process.stdout.write(answer.body.choices[0].message.content)
process.stderr.write(`${bill.body.requests[0].costNanoUsd} nano-USD\n`)
