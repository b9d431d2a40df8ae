import { once } from 'node:events'
import { connect } from 'node:net'

export class SearchUnavailableError extends Error {
  name = 'SearchUnavailableError'
}

/** Sends the words to the search server, which listens on port 7700. */
export async function searchProducts(words) {
  const socket = connect({ host: '127.0.0.1', port: 7700 })
  try {
    await once(socket, 'connect')
  } catch (cause) {
    throw new SearchUnavailableError(`The search server is not reachable: ${cause.message}`, { cause })
  }
  socket.end(JSON.stringify({ words }))
  return []
}
