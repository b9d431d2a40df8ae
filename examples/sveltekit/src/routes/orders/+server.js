export function GET() {
  throw new Error('The orders cannot be read')
}
