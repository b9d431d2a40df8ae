export const dynamic = 'force-dynamic';

export default function Orders() {
  throw new Error('The orders cannot be read');
}
