// What the program is made of, for those who look for known weaknesses: a CycloneDX document of the
// packages that are installed with it and of those whose code its bundle holds. `npm sbom` says
// what the lock file knows of each; what only builds and tests the program is left out.
import { readFileSync } from 'node:fs'
import { root, run } from './run.js'

/** Names with versions of the packages that the licences of a bundle name. */
const bundledIn = (licences) =>
  [...licences.matchAll(/^==== (\S+) (\S+) \(/gm)].map(([, name, version]) => `${name}@${version}`)

const isForDevelopment = ({ properties = [] }) =>
  properties.some(({ name }) => name === 'cdx:npm:package:development')

/**
 * The document. The same lock file and bundle give the same bytes: what a run alone knows (a
 * number, a time, the npm that was asked) is left out.
 * @param {string} licences text of `dist/licenses.txt`
 * @returns {Promise<string>}
 * @throws {Error} where npm gives none, or where it knows nothing of a bundled package
 */
export const sbomOf = async (licences) => {
  const { status, output } = await run('npm', [
    '--silent', 'sbom', '--sbom-format', 'cyclonedx', '--package-lock-only',
  ], { cwd: root })
  if (status !== 0) throw new Error(`npm sbom ended with ${status}:\n${output}`)
  const { $schema, bomFormat, specVersion, version, components, dependencies } = JSON.parse(output)
  const bundled = new Set(bundledIn(licences))
  const kept = components.filter((one) => bundled.has(one['bom-ref']) || !isForDevelopment(one))
  const refs = new Set(kept.map((one) => one['bom-ref']))
  const unknown = [...bundled].filter((ref) => !refs.has(ref))
  if (unknown.length > 0) throw new Error(`npm sbom knows nothing of ${unknown.join(', ')}`)
  const { component, ref: own } = itself()
  return `${JSON.stringify({
    $schema, bomFormat, specVersion, version,
    metadata: { lifecycles: [{ phase: 'build' }], component },
    // What is bundled is installed for development; in the program it is a part like the others.
    components: kept.map(({ properties: _, ...one }) => ({ ...one, scope: 'required' })),
    dependencies: dependencies.filter(({ ref }) => refs.has(ref) || ref === own)
      .map(({ ref, dependsOn = [] }) =>
        ({ ref, dependsOn: dependsOn.filter((on) => refs.has(on)) })),
  }, null, 2)}\n`
}

/** The program, as a component; npm would call it by the folder of the clone. */
const itself = () => {
  const { name, version, description, license } =
    JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))
  const ref = `${name}@${version}`
  return {
    ref,
    component: {
      'bom-ref': ref, type: 'application', name, version, description,
      purl: `pkg:npm/${ref}`, licenses: [{ license: { id: license } }],
    },
  }
}
