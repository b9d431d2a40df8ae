import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';
// with the other imports

async function bootstrap() {
  // around NestFactory.create, before listen
  await app.listen(process.env.PORT ?? 3000);
}
void bootstrap();
