import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
// with the other imports

async function bootstrap() {
  // around NestFactory.create, before listen
  app.enableCors();
  await app.listen(process.env.PORT ?? 3000);
}
void bootstrap();
