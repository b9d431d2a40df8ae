import { chromium } from './chromium.mjs'
import { canInstall, install } from './debian.mjs'
import { mariadb } from './mariadb.mjs'
import { postgres } from './postgres.mjs'
import { redis } from './redis.mjs'

export const services = [postgres, mariadb, redis, chromium]

/**
 * Starts every service whose variable is not set, and installs it first if allowed. Returns running, skipped and failed
 * services with the reasons, and the environment for the tests.
 */
export async function startServices({ dialects }) {
  const outcome = { running: [], skipped: [], failed: [], env: {} }
  const required = []
  for (const service of services) {
    if (service.dialect && !dialects.includes(service.dialect)) {
      outcome.skipped.push({ service, reason: `DATABASES=${dialects}` })
    } else if (!process.env[service.variable]) {
      required.push(service)
    }
  }
  await installMissing(required)
  await Promise.all(required.map((service) => startService(outcome, service)))
  return outcome
}

async function installMissing(required) {
  const missing = required.filter((service) => !service.find()).map((service) => service.debianPackage)
  if (missing.length === 0 || !canInstall()) return
  console.log(`  installing ${missing.join(', ')}`)
  await install(missing)
}

async function startService(outcome, service) {
  const programs = service.find()
  if (!programs) {
    const reason = `not found; install the Debian package ${service.debianPackage} or set ${service.variable}`
    outcome.skipped.push({ service, reason })
    return
  }
  try {
    const running = await service.start(programs)
    outcome.running.push(running)
    outcome.env[service.variable] = running.url
  } catch (error) {
    // Reports a server that does not start as a failure. Tests of other services still run.
    outcome.failed.push({ service, reason: error.message })
  }
}
