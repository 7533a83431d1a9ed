// `node scripts/layers.js`: says which imports break a rule of scripts/tool/layers.js.
import { importGraph } from './tool/imports.js'
import { violationsIn } from './tool/layers.js'

const violations = violationsIn(importGraph())
for (const { rule, from, to } of violations) console.log(`${rule}: ${from} imports ${to}`)
process.exitCode = violations.length === 0 ? 0 : 1
