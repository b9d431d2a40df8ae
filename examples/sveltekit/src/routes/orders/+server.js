export function GET() {
  throw new Error('Could not load orders')
}
