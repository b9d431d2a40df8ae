/**
 * Prints the plan of a run and a line when a table starts and ends. `plan` contains one entry per run of a suite, in
 * order: its name and its estimated minutes. Estimates are corrected by the pace of the suites that have finished.
 */
export function createProgress({ plan, print = console.log, now = () => performance.now() }) {
  const started = now()
  const pending = [...plan]
  let current = null
  let finishedMs = 0
  let finishedMinutes = 0

  const line = (text) => print(`[${clock(now() - started)}] ${text}, ${remaining()} left`)

  function remaining() {
    // Adds one minute at the estimated pace, so that the first short suite does not distort the rest.
    const pace = (finishedMs / 60_000 + 1) / (finishedMinutes + 1)
    const inCurrent = current ? Math.max(0, current.minutes * pace - (now() - current.started) / 60_000) : 0
    return minutesText(inCurrent + sumMinutes(pending) * pace)
  }

  return {
    printPlan() {
      const names = [...new Set(plan.map(({ suite }) => suite))]
      const parts = names.map((name) => `${name} ${tenths(sumMinutes(plan.filter(({ suite }) => suite === name)))}`)
      print(`Estimated duration: ${minutesText(sumMinutes(plan))} (${parts.join(', ')})`)
    },
    startSuite() {
      current = { ...pending.shift(), started: now() }
    },
    endSuite() {
      finishedMs += now() - current.started
      finishedMinutes += current.minutes
      current = null
    },
    /** Runs the measurement of a table. Returns its result and its duration in seconds. */
    async measureTable(title, measure) {
      const startedAt = now()
      line(`${current.suite}: ${title}`)
      const rows = await measure()
      const seconds = Math.round((now() - startedAt) / 100) / 10
      line(`${current.suite}: ${title} took ${seconds} s`)
      return { rows, seconds }
    },
  }
}

function sumMinutes(entries) {
  return entries.reduce((sum, { minutes }) => sum + minutes, 0)
}

function minutesText(minutes) {
  return minutes < 1 ? 'less than a minute' : `about ${Math.round(minutes)} min`
}

function tenths(minutes) {
  return String(Math.round(minutes * 10) / 10)
}

function clock(ms) {
  const seconds = Math.floor(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
