import { writeFileSync } from 'node:fs'

/** A reporter of vitest that leaves the errors outside of any test in a file; the JSON report does not tell of them. */
export default class UnhandledErrors {
  onTestRunEnd(_modules, errors) {
    const told = errors.map(({ name, message }) => `${name}: ${message}`)
    writeFileSync(process.env.FAULTBOARD_TEST_UNHANDLED_ERRORS, JSON.stringify(told))
  }
}
