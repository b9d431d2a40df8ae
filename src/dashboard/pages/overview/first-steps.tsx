import type { Rendered, Visit } from '../../define.js'
import { href } from '../../href.js'
import { CopyButton } from '../../ui/copy.js'

const LINES = `import { capture, dashboard } from 'faultboard/express'
app.use(dashboard())
app.use(capture()) // after your routes`

const LOG_ERROR = "await Tracker.Commands.LogError.call({ exception: error, user_id: 'u-1' })"

/** The overview of a newcomer: what will stand here, and the lines that bring the first error. */
export function FirstSteps({ visit }: { visit: Visit }): Rendered {
  return (
    <section class="first-steps">
      <h2>No error was recorded yet</h2>
      <p>
        This page will show what broke today, what is new since you were last here, what came back, and what hurts most
        users of {visit.application_name || 'your application'}.
      </p>
      <h3>Record what your routes throw</h3>
      <pre tabindex={0} id="capture-lines">
        <code>{LINES}</code>
      </pre>
      <CopyButton from="capture-lines" label="Copy these lines" />
      <h3>Or record one yourself</h3>
      <pre tabindex={0} id="log-line">
        <code>{LOG_ERROR}</code>
      </pre>
      <CopyButton from="log-line" label="Copy this line" />
      <p class="muted">
        The lines for Fastify, Koa, Hono, NestJS, Next.js, Nitro and plain Node.js, and for loggers and queues, are in{' '}
        <code>docs/frameworks.md</code> and <code>docs/subscribers.md</code> of the package. Nothing here although an
        error was thrown? <a href={href(visit, '/health')}>Health</a> tells what was left out, and why.
      </p>
    </section>
  )
}
