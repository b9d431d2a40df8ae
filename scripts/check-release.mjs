// node scripts/check-release.mjs TAG
// Fails unless the tag, package.json and the newest section of CHANGELOG.md have the same version. Prints that section.
import { readFileSync } from 'node:fs'

const [tag = ''] = process.argv.slice(2)
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const [, section = ''] = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m)
const heading = section.slice(0, section.indexOf('\n'))
const notes = section.slice(heading.length)

if (tag !== `v${version}`) fail(`The tag ${tag} does not match version ${version} in package.json.`)
if (heading.split(' ')[0] !== version) fail(`The newest section of CHANGELOG.md is "${heading}", not ${version}.`)
if (heading.includes('unreleased')) fail(`CHANGELOG.md still marks ${version} as unreleased.`)
console.log(notes.trim())

function fail(message) {
  console.error(message)
  process.exit(1)
}
