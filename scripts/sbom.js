// `node scripts/sbom.js`: writes dist/sbom.cdx.json, what the built program is made of. `npm pack`
// and `npm publish` call it.
import { readFileSync, writeFileSync } from 'node:fs'
import { root } from './tool/run.js'
import { sbomOf } from './tool/sbom.js'

const licences = readFileSync(`${root}/dist/licenses.txt`, 'utf8')
writeFileSync(`${root}/dist/sbom.cdx.json`, await sbomOf(licences))
