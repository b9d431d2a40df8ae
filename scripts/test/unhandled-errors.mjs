import { writeFileSync } from 'node:fs'

/** Vitest reporter that writes errors outside of tests to a file, because the JSON report omits them. */
export default class UnhandledErrors {
  onTestRunEnd(_modules, errors) {
    const messages = errors.map(({ name, message }) => `${name}: ${message}`)
    writeFileSync(process.env.FAULTBOARD_TEST_UNHANDLED_ERRORS, JSON.stringify(messages))
  }
}
