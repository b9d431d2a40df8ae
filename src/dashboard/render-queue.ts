import { nextTurn } from '../model/event-loop-turns.js'

let lastRendering: Promise<void> = Promise.resolve()

/**
 * Renders one page at a time. Half-rendered pages consist of many small strings, and the garbage collector blocks the host
 * while it copies those of all concurrent page views. `render` must not wait for a database.
 */
export function renderInOrder<Result>(render: () => Promise<Result>): Promise<Result> {
  const result = lastRendering.then(async () => {
    // Yields to the host, because rendering blocks the event loop.
    await nextTurn()
    return render()
  })
  // Does not retain the page.
  const end = () => {}
  lastRendering = result.then(end, end)
  return result
}
