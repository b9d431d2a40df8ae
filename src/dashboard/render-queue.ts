import { nextTurn } from '../model/event-loop-turns.js'

let lastRendering: Promise<void> = Promise.resolve()

/**
 * Renders one page at a time. Half-rendered pages consist of many small strings. With concurrent renders, the garbage
 * collector would block the host while copying all of them. `render` must not wait for a database.
 */
export function renderInOrder<Result>(render: () => Promise<Result>): Promise<Result> {
  const result = lastRendering.then(async () => {
    // Yields to the host, because rendering blocks the event loop.
    await nextTurn()
    return render()
  })
  // Resolves to nothing, so that the queue does not retain the page.
  const end = () => {}
  lastRendering = result.then(end, end)
  return result
}
