// Preloaded by a process of one test file: notes at its end what the file cost.
'use strict'
const { isMainThread } = require('node:worker_threads')
const { note, spent } = require('./spent.cjs')

// What the file forks notes itself, too; the runner takes the largest.
const file = process.env.SALLYPORT_TEST_FILE
if (isMainThread && file !== undefined) {
  process.on('exit', () => note(file, spent(), process.uptime()))
}
