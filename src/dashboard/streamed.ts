const STREAMED = /^text\/(?:event-stream|csv)\b/

/** Whether an answer is written while it is sent. All others are there as a whole, and their length is known. */
export function isStreamed(headers: Headers): boolean {
  return STREAMED.test(headers.get('content-type') ?? '')
}
