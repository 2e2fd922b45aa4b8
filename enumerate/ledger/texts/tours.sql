-- $Title.
-- For DuckDB: `duckdb -init tours.sql`.
$elsewhere
-- The squares of a tour in the order of the visit, as numbers: row * $cols + column, both from 0.
create or replace macro squares(tour) as
    [('0x' || $hex)::uinteger for h in regexp_extract_all(hex(tour), '$digits')];

-- The name of a square: its column as letters, and its row from 1.
create or replace macro square_name(square) as
    $letters || (square // $cols + 1);

-- The same tour in names.
create or replace macro algebraic(tour) as
    [square_name(square) for square in squares(tour)];

create or replace view tours as
    select * from read_parquet('$tours/**/*.parquet', hive_partitioning = true);
