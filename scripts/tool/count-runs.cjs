// Preloaded by test processes: counts what runs as NODE_V8_COVERAGE does, but keeps only our own
// code. Node itself would write 5 MB for each of them, to be read again and thrown away.
'use strict'
const { Session } = require('node:inspector')
const { writeFileSync } = require('node:fs')

const dir = process.env.SALLYPORT_COVERAGE_DIR
const ours = /\/\.build\/tree\/src\//
const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
process.on('exit', () => {
  session.post('Profiler.takePreciseCoverage', (error, taken) => {
    if (error !== null) throw new Error('what ran could not be counted')
    const result = taken.result.filter(({ url }) => ours.test(url))
    writeFileSync(`${dir}/counted-${process.pid}.json`, JSON.stringify({ result }))
  })
})
