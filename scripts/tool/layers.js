// Imports only ever point down. Each layer may import itself and the layers below it; capabilities
// never import each other. There is no exceptions list.
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { root } from './run.js'

const layers = [
  ['base'],
  ['state'],
  ['images'],
  ['net'],
  ['governance'],
  ['contact'],
  ['observations'],
  ['gateway'],
  ['alpha', 'shots', 'edge', 'codehost'],
  ['fabric'],
  ['service'],
  ['cli'],
]

const folder = (names) => new RegExp(`^src/(?:${names.join('|')})/`)

/**
 * What no file of a layer may import: every layer above it, and its neighbours. Nothing is above
 * the last one.
 */
const layerRules = layers.slice(0, -1).flatMap((names, level) =>
  names.map((name) => {
    const above = folder([
      ...layers.slice(level + 1).flat(),
      ...names.filter((other) => other !== name),
      ...(name === 'alpha' ? ['gateway'] : []),
      'sandbox',
    ])
    return {
      name: `${name}-imports-down`, from: folder([name]),
      forbids: ({ to }) => to !== null && above.test(to),
    }
  }),
)

/** Which folders alone may import a package or a part of Node. */
const owners = [
  ['inquirer @inquirer commander cli-table3 yocto-spinner', /^(src\/cli|test)\//],
  ['lowdb steno', /^(src\/state|test|bench)\//],
  ['fs-native-extensions', /^(src\/state|test|bench)\//],
  ['pngjs jpeg-js', /^(src\/(images|sandbox\/samples|gateway)|test|bench)\//],
  ['sharp @img', /^(test|bench)\//],
  ['koffi @koromix', /^(src\/codehost\/producer|test|bench)\//],
  ['chokidar', /^(src\/shots\/watch|test|bench)\//],
  ['hono', /^(src\/service|test|bench)\//],
  ['node-fetch', /^(src\/net|test|bench)\//],
  ['http https http2 net tls dns dns/promises dgram', /^(src\/(net|service|sandbox)|test|bench)\//],
  ['child_process', new RegExp('^(src/(codehost/|sandbox/|cli/(pager\\.ts'
    + '|commands/(demo|sandbox|serve|timers)/))|(test|bench)/)')],
  ['plist', /^(src\/fabric\/launchd|test)\//],
  ['pg', /^(src\/state\/place\/postgres|test|bench)\//],
]

/** Packages that the program is bundled with; docs/dev/dependencies.md says what each is for. */
const bundled = [
  '@peculiar/x509', '@valibot/to-json-schema', 'canonicalize', 'chokidar', 'cli-table3',
  'commander', 'diff',
  'fast-string-width', 'hono', 'inquirer', 'ipaddr.js', 'jpeg-js', 'jsonc-parser', 'lowdb',
  'node-fetch', 'pg', 'plist', 'pngjs', 'reflect-metadata', 'uuid', 'valibot', 'yocto-spinner',
]

/** The package, or the part of Node, that a specifier names; null for a file. */
const packageOf = (specifier) => {
  if (specifier.startsWith('.')) return null
  if (isBuiltin(specifier)) return specifier.replace(/^node:/, '')
  return specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}

const owns = (names) => {
  const all = names.split(' ')
  return (name) => name !== null && all.some((one) =>
    name === one || (one.startsWith('@') && name.startsWith(`${one}/`)))
}

const ownerRules = owners.map(([names, owner], number) => {
  const isOwned = owns(names)
  return {
    name: `owner-${number + 1}`, from: /^(src|test|bench)\//, notFrom: owner,
    forbids: ({ specifier, typeOnly }) => !typeOnly && isOwned(packageOf(specifier)),
  }
})

const manifest = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))
const shipped = { ...manifest.dependencies, ...manifest.optionalDependencies }
const declared = { ...shipped, ...manifest.devDependencies }

const isPackage = (specifier) => packageOf(specifier) !== null && !isBuiltin(specifier)

const restRules = [
  {
    // What closing a job and running it both need lies with the jobs.
    name: 'jobs-never-import-closure', from: /^src\/codehost\/jobs\//,
    forbids: ({ to }) => to !== null && /^src\/codehost\/closure\//.test(to),
  },
  {
    name: 'sandbox-stands-on-base', from: /^src\/sandbox\//,
    forbids: ({ to }) => to !== null && /^src\/(?!sandbox\/|base\/)/.test(to),
  },
  {
    name: 'sandbox-is-for-demo-and-tests', from: /^src\//,
    notFrom: /^src\/(sandbox|cli\/commands\/(demo|sandbox))\//,
    forbids: ({ to }) => to !== null && /^src\/sandbox\//.test(to),
  },
  {
    name: 'src-stands-alone', from: /^src\//,
    forbids: ({ to }) => to !== null && /^(test|bench|scripts)\//.test(to),
  },
  {
    name: 'declared-packages-only', from: /^src\//,
    forbids: ({ specifier }) => isPackage(specifier) && !(packageOf(specifier) in declared),
  },
  {
    // What is bundled is installed for development only; so is everything else that tests need.
    name: 'bundled-packages-only', from: /^src\//,
    forbids: ({ specifier }) => {
      const name = packageOf(specifier)
      return isPackage(specifier) && name in declared && !(name in shipped)
        && !bundled.includes(name)
    },
  },
  {
    name: 'resolvable', from: /^/,
    forbids: ({ specifier, to }) =>
      to === null && !isBuiltin(specifier) && !(packageOf(specifier) in declared),
  },
]

const rules = [...layerRules, ...ownerRules, ...restRules]

/** The names of all rules; a planted violation of each is found by test/layers.test.ts. */
export const ruleNames = [...rules.map(({ name }) => name), 'no-circles']

/**
 * Files that import each other in a circle: one line for each circle there is. Outside src/ a type
 * may be taken from a file that takes something of its own.
 * Tarjan's strongly connected components, without recursion.
 */
const circlesIn = (graph) => {
  const nextOf = (path) => graph.get(path)
    .filter(({ to, typeOnly }) => graph.has(to) && (!typeOnly || path.startsWith('src/')))
    .map(({ to }) => to)
  const low = new Map()
  const number = new Map()
  const open = new Set()
  const stack = []
  const circles = []
  const enter = (path) => {
    number.set(path, number.size)
    low.set(path, number.get(path))
    stack.push(path)
    open.add(path)
    return { path, next: nextOf(path).values() }
  }
  const leave = (path) => {
    if (low.get(path) !== number.get(path)) return
    const members = stack.splice(stack.indexOf(path))
    for (const one of members) open.delete(one)
    if (members.length > 1 || nextOf(path).includes(path)) circles.push(members.sort())
  }
  for (const start of graph.keys()) {
    const way = number.has(start) ? [] : [enter(start)]
    while (way.length > 0) {
      const { path, next } = way.at(-1)
      const { value: to, done } = next.next()
      if (done) {
        way.pop()
        leave(path)
        const before = way.at(-1)
        if (before) low.set(before.path, Math.min(low.get(before.path), low.get(path)))
      } else if (!number.has(to)) way.push(enter(to))
      else if (open.has(to)) low.set(path, Math.min(low.get(path), number.get(to)))
    }
  }
  return circles
}

/**
 * What of the imports breaks a rule.
 * @param {ReadonlyMap<string, readonly import('./imports.js').Import[]>} graph
 * @returns {readonly { rule: string, from: string, to: string }[]}
 */
export const violationsIn = (graph) => {
  const found = [...graph].flatMap(([from, imports]) => rules
    .filter((rule) => rule.from.test(from) && rule.notFrom?.test(from) !== true)
    .flatMap(({ name: rule, forbids }) => imports.filter(forbids)
      .map(({ to, specifier }) => ({ rule, from, to: to ?? specifier }))))
  const circles = circlesIn(graph).map(([from, ...to]) =>
    ({ rule: 'no-circles', from, to: to.join(', ') || from }))
  return [...found, ...circles]
}
