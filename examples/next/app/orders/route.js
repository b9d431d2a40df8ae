export async function GET() {
  throw new Error('Could not load orders')
}
